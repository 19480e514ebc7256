import { ConfigError, Schedule } from '@simba/core'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

const period = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.double({ min: 1, max: 1_000, noNaN: true }))
/** How long each run takes, and how late each starts: sleeps of the machine among them. */
const runs = fc.array(fc.record({ tookMs: fc.nat({ max: 300_000 }), lateMs: fc.nat({ max: 5_000 }) }), {
  maxLength: 40,
})
const first = fc.nat({ max: 1_000_000 })

/** The planned starts of a task, each with the end of the run before. */
function plan(
  schedule: Schedule,
  first: number,
  runs: readonly { readonly tookMs: number; readonly lateMs: number }[],
) {
  const starts: { readonly planned: number; readonly ended: number; readonly next: number }[] = []
  let planned = first
  for (const { tookMs, lateMs } of runs) {
    const ended = planned + lateMs + tookMs
    const next = schedule.nextStart(first, planned, ended)
    starts.push({ planned, ended, next })
    planned = next
  }
  return starts
}

test('with a fixed delay there is exactly the delay from the end of a run to the next', () => {
  fc.assert(
    fc.property(period, first, runs, (period, first, runs) => {
      for (const { ended, next } of plan(Schedule.fixedDelay(period), first, runs))
        expect(next).toBe(ended + period)
    }),
  )
})

test('with a fixed rate runs start on the grid, never before the end of the last, and the first such time is taken', () => {
  fc.assert(
    fc.property(period, first, runs, (period, first, runs) => {
      for (const { planned, ended, next } of plan(Schedule.fixedRate(period), first, runs)) {
        const slack = 1e-6 * period
        const periods = (next - first) / period
        expect(Math.abs(periods - Math.round(periods))).toBeLessThan(1e-6)
        expect(next).toBeGreaterThanOrEqual(ended - slack)
        expect(next).toBeGreaterThanOrEqual(planned + period - slack)
        // No start is skipped that could be kept.
        expect(next - Math.max(ended, planned + period)).toBeLessThan(period + slack)
      }
    }),
  )
})

test('however long the machine slept, one run follows, and the next is a period later or more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60_000 }), first, fc.nat({ max: 1e9 }), (period, first, slept) => {
      const schedule = Schedule.fixedRate(period)
      const next = schedule.nextStart(first, first, first + slept)
      const after = schedule.nextStart(first, next, next)
      expect(next).toBeGreaterThanOrEqual(first + slept)
      expect(after - next).toBe(period)
    }),
  )
})

test('an initial delay is what was asked for, and none is asked for by default', () => {
  expect(Schedule.fixedDelay('1m', { initialDelay: '10s' })).toMatchObject({
    periodMs: 60_000,
    initialDelayMs: 10_000,
  })
  expect(Schedule.fixedRate('2h')).toMatchObject({ periodMs: 7_200_000, initialDelayMs: 0 })
})

test.each([0, 0.5, -1, Number.NaN, Infinity])(
  'a period of %d ms is refused: it would run without end',
  (period) => {
    expect(() => Schedule.fixedDelay(period)).toThrow(ConfigError)
    expect(() => Schedule.fixedRate(period)).toThrow(ConfigError)
  },
)

test('an initial delay may be none, but not negative', () => {
  expect(Schedule.fixedRate(5, { initialDelay: 0 }).initialDelayMs).toBe(0)
  expect(() => Schedule.fixedRate(5, { initialDelay: -1 })).toThrow(
    /initialDelay is -1; it must be at least 0 ms/,
  )
})
