/** Real processes that are killed, stopped, kept busy and cut off from their file: the laws hold, and everybody recovers. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse, UsageError } from '../src/options.js'

test('a short torture on SQLite breaks no law', { timeout: 120_000 }, async () => {
  const script = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--minutes', '0.25', '--json'])
  const summary: unknown = JSON.parse(stdout)
  expect(summary).toMatchObject({ kind: 'summary', backend: 'sqlite', overlaps: 0, broken: [] })
  expect(summary).toHaveProperty(
    'acceptedWrites',
    expect.toSatisfy((accepted) => accepted > 50),
  )
})

describe('options', () => {
  test('have defaults', () => {
    expect(parse([], 7)).toEqual({
      backend: 'sqlite',
      durationMs: 60_000,
      nodes: 4,
      leaseMs: 1_000,
      seed: 7,
      json: false,
    })
  })

  test.for([
    [['--minutes', '0'], /--minutes is "0"; give a number from 0\.05 to 600/],
    [['--nodes', '1'], /--nodes is "1"; give a number from 2 to 16/],
    [['--nodes', '2.5'], /whole number/],
    [['--lease', '100'], /--lease is "100"; give a number from 500/],
    [['--backend', 'paper'], /there is no "paper"; there are: sqlite/],
    [['--speed'], /speed/],
  ] as const)('%j are refused', ([args, message]) => {
    expect(() => parse(args, 1)).toThrow(UsageError)
    expect(() => parse(args, 1)).toThrow(message)
  })
})
