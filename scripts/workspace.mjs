/** Where things are, and how to run a command. Only what Node brings: this runs before anything is installed. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Git-ignored; what is slow to get and the same for all runs. */
export const cache = join(root, '.cache')

/** The packages that are published: `{ name, folder, manifest }`. */
export function packages() {
  return readdirSync(join(root, 'packages'))
    .sort()
    .map((folder) => {
      const path = join(root, 'packages', folder)
      const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      return { name: manifest.name, folder: path, manifest }
    })
}

/**
 * Runs a command and gathers what it prints. Never rejects: `{ ok, code, output, ms }`. With `show` the output is passed on as it comes.
 */
export function run(command, args, { cwd = root, env = {}, show = false, timeoutMs = 20 * 60_000 } = {}) {
  return new Promise((resolve) => {
    const began = performance.now()
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const take = (chunk) => {
      output += chunk
      if (show) process.stdout.write(chunk)
    }
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
    const timer = setTimeout(() => {
      take(`\nGiven up after ${timeoutMs / 60_000} minutes.\n`)
      child.kill('SIGKILL')
    }, timeoutMs)
    child.on('error', (error) => take(`${error.message}\n`))
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ ok: code === 0, code, output, ms: performance.now() - began })
    })
  })
}

/** Runs a command that must succeed; shows what it printed if it does not. */
export async function must(command, args, options) {
  const result = await run(command, args, options)
  if (result.ok) return result.output
  throw new Error(`${[command, ...args].join(' ')} failed with code ${result.code}:\n${result.output}`)
}

/** Whether this module was started by itself: `node scripts/x.mjs`. */
export function isMain(url) {
  return process.argv[1] === fileURLToPath(url)
}

/** Ends a script in words, not with a stack. */
export async function main(work) {
  try {
    await work()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
