/** The parent's side of a child process that speaks in lines of JSON. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export function startChild(script, ...args) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const said = []
  const waiting = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    const what = JSON.parse(line)
    const next = waiting.shift()
    if (next === undefined) said.push(what)
    else next(what)
  })
  return {
    /** The next line that it says. */
    hear: () =>
      said.length > 0 ? Promise.resolve(said.shift()) : new Promise((resolve) => waiting.push(resolve)),
    say: (what) => child.stdin.write(`${JSON.stringify(what)}\n`),
    /** What it has said and nobody has heard. */
    forget: () => said.splice(0),
    /** As `kill -9` does. */
    kill: () => child.kill('SIGKILL'),
    stop: async () => {
      child.stdin.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
