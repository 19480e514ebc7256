/** The laws hold in simulated worlds; and they are seen to fail in each in which something is broken on purpose. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PREMISES } from '@simba/testing'
import { describe, expect, test } from 'vitest'
import { defects } from '../src/defects/all.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs the command line; it exits with 1 if all is not as it should be. */
async function simulate(...args: string[]): Promise<{ readonly code: unknown; readonly stdout: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['simulate/dist/main.js', ...args], {
      cwd: root,
    })
    return { code: 0, stdout }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !('stdout' in error)) throw error
    return { code: error.code, stdout: String(error.stdout) }
  }
}

function lastLine(stdout: string): unknown {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}

/** Other worlds with each commit. */
async function seedOfCommit(): Promise<number> {
  const { stdout } = await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: root })
  return createHash('sha256').update(stdout).digest().readUInt32BE() + 1_000_000
}

describe('the laws hold', () => {
  test('in the worlds of the first seeds', { timeout: 120_000 }, async () => {
    const { code, stdout } = await simulate('--seeds', '300', '--json')
    expect(lastLine(stdout)).toMatchObject({ kind: 'summary', seeds: 300, violations: 0 })
    expect(code).toBe(0)
  })

  test('in worlds that no commit before this one has seen', { timeout: 120_000 }, async () => {
    const from = await seedOfCommit()
    const { code, stdout } = await simulate('--from', String(from), '--seeds', '300', '--json')
    expect(lastLine(stdout)).toMatchObject({ from, seeds: 300, violations: 0 })
    expect(code).toBe(0)
  })
})

/** Where fifty seeds begin of which at least one shows it, for those that the first fifty do not show. */
const recorded: Readonly<Record<string, number>> = {
  'deadline-from-reply': 60,
  'no-margin': 60,
  'expired-session-revived': 80,
  'stale-session-adopted': 60,
}

describe.for([...Object.keys(PREMISES), ...Object.keys(defects)])('with "%s" broken', (name) => {
  test('a law is seen to fail, and none that must hold all the same', { timeout: 60_000 }, async () => {
    const from = String(recorded[name] ?? 1)
    const { code, stdout } = await simulate('--break', name, '--from', from, '--seeds', '50', '--json')
    expect(lastLine(stdout)).toMatchObject({
      broken: name,
      violations: expect.toSatisfy((found) => found > 0),
    })
    expect(code).toBe(0)
  })
})

describe('a seed', () => {
  test('gives the same world each time, to the last event', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => simulate('--seed', '11', '--trace', '100000')))
    expect(one?.stdout.split('\n').length).toBeGreaterThan(500)
    expect(one?.stdout).toBe(other?.stdout)
  })

  test('that fails prints the law in words, and a command for the whole and for a smaller world', async () => {
    const { code, stdout } = await simulate(
      '--seed',
      '1',
      '--break',
      'release-before-revoke',
      '--trace',
      '20',
    )
    expect(code).toBe(1)
    expect(stdout).toContain('The law: a lease is given back only after its term was revoked')
    expect(stdout).toMatch(/npm run simulate -- --seed 1 --break release-before-revoke --trace/)
    const smaller = /Smaller: +npm run simulate -- (.*)/.exec(stdout)?.[1] ?? ''
    const args = [...smaller.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    expect((await simulate(...args)).code).toBe(1)
  })
})

test.for([
  ['--seeds', 'many'],
  ['--seed', '0'],
  ['--break', 'everything'],
  ['--without', 'luck'],
  ['--trace'],
  ['--speed'],
])('%s is refused in words, with the help', async (args) => {
  const { code, stdout } = await simulate(...args)
  expect(code).toBe(2)
  expect(stdout).toBe('')
})
