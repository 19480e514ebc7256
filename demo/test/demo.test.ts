/** The demo as people run it: a process that is started, watched, and interrupted. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Line {
  readonly kind: string
  readonly [name: string]: unknown
}

/** A demo that is running, and what it has printed. */
class Run {
  readonly lines: Line[] = []
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>
  private onLine = () => {}

  constructor(...options: readonly string[]) {
    const script = `${root}/demo/dist/main.js`
    // In a group of its own, as a shell would start it.
    const child = spawn(process.execPath, [script, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.child = child
    let errors = ''
    child.stderr.on('data', (text) => {
      errors += text
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      this.onLine()
    })
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => resolve({ code, errors }))
    })
  }

  /** Waits until it has told the event. */
  told(kind: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.lines.some((line) => line.kind === kind)) resolve()
      }
      this.onLine = check
      void this.ended.then(({ code, errors }) =>
        reject(new Error(`It ended with code ${code} before "${kind}": ${errors}`)),
      )
      check()
    })
  }

  /** The processes that it started. */
  get pids(): number[] {
    return this.lines.flatMap(({ kind, pid }) => (kind === 'started' && typeof pid === 'number' ? [pid] : []))
  }

  get folder(): string {
    return String(this.lines.find(({ kind }) => kind === 'start')?.folder)
  }

  get leavings(): (number | string)[] {
    const processes = this.pids.filter(isRunning)
    return existsSync(this.folder) ? [...processes, this.folder] : processes
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const status = `/proc/${pid}/status`
  // One that has ended, and that nobody has asked for its exit code.
  return !(existsSync(status) && /^State:\s+Z/m.test(readFileSync(status, 'utf8')))
}

const runs: Run[] = []

function run(...options: readonly string[]): Run {
  const started = new Run(...options)
  runs.push(started)
  return started
}

beforeAll(() => {
  execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '-b', 'demo'], {
    cwd: root,
    stdio: 'inherit',
  })
}, 60_000)

afterEach(() => {
  for (const { child } of runs.splice(0)) child.kill('SIGKILL')
})

const QUICK = ['--json', '--lease', '1s', '--seconds', '1']

test('four acts with a lease of a second: four terms, no overlap, one late write refused, nothing left behind', async () => {
  const demo = run(...QUICK)
  expect(await demo.ended).toEqual({ code: 0, errors: '' })

  const summary = demo.lines.at(-1) ?? { kind: 'none' }
  expect(Object.keys(summary)).toEqual([
    'kind',
    'terms',
    'overlaps',
    'refusedWrites',
    'acceptedWrites',
    'tokens',
    'gapsMs',
  ])
  expect(summary).toMatchObject({ kind: 'summary', terms: 4, overlaps: 0, refusedWrites: 1 })
  expect(summary.tokens).toEqual(['1', '2', '3', '4'])
  expect(summary.gapsMs).toHaveLength(3)
  expect(summary.acceptedWrites).toBeGreaterThan(8)
  for (const line of demo.lines.slice(0, -1)) expect(line).toMatchObject({ atMs: expect.any(Number) })

  const kinds = demo.lines.map(({ kind }) => kind)
  const acts = ['killed', 'stopped', 'continued', 'lateWrite', 'firstLook', 'asked']
  expect(kinds.filter((kind) => acts.includes(kind))).toEqual(acts)
  expect(demo.pids).toHaveLength(4)
  expect(demo.leavings).toEqual([])
}, 60_000)

test.each([
  ['to the demo alone', 1],
  ['to its whole group, as a terminal sends it', -1],
])(
  'SIGINT %s ends every process and removes the folder',
  async (_, sign) => {
    const demo = run(...QUICK)
    await demo.told('killed')
    process.kill(sign * Number(demo.child.pid), 'SIGINT')
    expect(await demo.ended).toEqual({ code: 130, errors: '' })
    expect(demo.pids.length).toBeGreaterThanOrEqual(3)
    expect(demo.leavings).toEqual([])
  },
  60_000,
)

test('when the demo itself is killed, its processes end too, also one that is stopped', async () => {
  const demo = run(...QUICK)
  await demo.told('stopped')
  demo.child.kill('SIGKILL')
  await demo.ended
  expect(demo.pids).toHaveLength(4)
  await expect.poll(() => demo.leavings, { timeout: 10_000 }).toEqual([])
}, 60_000)

test('an option that does not exist is refused before anything is started', async () => {
  const demo = run('--json', '--fast')
  expect(await demo.ended).toEqual({
    code: 2,
    errors:
      'There is no option --fast; there are --nodes, --seconds, --lease, --backend, --json, --help.\nRun with --help for the options.\n',
  })
  expect(demo.lines).toEqual([])
})
