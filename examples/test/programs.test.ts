/** Each program does what it says, alone and as two processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'

interface Program {
  readonly lines: readonly string[]
  /** Asks it to end in order; gives its exit code. */
  stop(): Promise<unknown>
  readonly exited: Promise<unknown>
}

function sharedFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'simba-examples-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'leases.db')
}

function start(name: string, leases: string): Program {
  const script = fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', script], {
    env: { ...process.env, LEASES: leases },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit').then(([code]) => code)
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  child.stdout
    .setEncoding('utf8')
    .on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)))
  return {
    lines,
    exited,
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
  }
}

/** Waits for a line, with a bound. */
function says(program: Program, line: RegExp): Promise<void> {
  return vi.waitFor(
    () =>
      expect(
        program.lines.some((said) => line.test(said)),
        program.lines.join('\n'),
      ).toBe(true),
    {
      timeout: 15_000,
      interval: 20,
    },
  )
}

test.for([
  ['election', /leads with token 1/, /leads with token 2/],
  ['terms', /leads with token 1/, /leads with token 2/],
  ['leader-task', /step 2 with token 1/, /step 1 with token 2/],
  ['schedule', /report of .* with token 1/, /report of .* with token 2/],
] as const)(
  '%s: one of two processes leads, and the other goes on when it stops',
  { timeout: 40_000 },
  async ([name, first, second]) => {
    const leases = sharedFile()
    const one = start(name, leases)
    await says(one, first)
    const other = start(name, leases)
    expect(await one.stop()).toBe(0)
    await says(other, second)
    expect(await other.stop()).toBe(0)
  },
)

test('lock: a second process waits for the first', { timeout: 40_000 }, async () => {
  const leases = sharedFile()
  const one = start('lock', leases)
  await says(one, /holds the lock with token 1/)
  const other = start('lock', leases)
  expect(await one.exited).toBe(0)
  await says(other, /holds the lock with token 2/)
  expect(await other.exited).toBe(0)
})

test('partition-group: half of the partitions move to a second process, and back', {
  timeout: 40_000,
}, async () => {
  const leases = sharedFile()
  const one = start('partition-group', leases)
  await vi.waitFor(() => expect(one.lines).toHaveLength(8), { timeout: 15_000 })
  const other = start('partition-group', leases)
  await says(other, /runs partition \d with token 2/)
  await says(one, /ran partition \d: STOPPED/)
  expect(await other.stop()).toBe(0)
  await says(one, /runs partition \d with token 3/)
  expect(await one.stop()).toBe(0)
})
