/** The arithmetic of deadlines: safe whatever is granted, and however the clocks go. */
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import {
  deadlineOf,
  localValidity,
  openingBackoff,
  renewalBackoff,
  renewalPeriod,
  retryDelay,
  type Timing,
} from '../../src/engine/timing.js'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

const ms = (max: number) => fc.double({ min: 0, max, noNaN: true })
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
/** As the options allow: see `config.ts`. */
const timing: fc.Arbitrary<Timing> = fc
  .record({
    leaseMs: fc.integer({ min: 10, max: 3_600_000 }),
    share: fc.double({ min: 0.02, max: 0.5, noNaN: true }),
    drift: fc.double({ min: 0, max: 0.4, noNaN: true }),
    marginMs: fc.nat({ max: 2_000 }),
    retryJitterMs: fc.nat({ max: 60_000 }),
    minBackoffMs: fc.integer({ min: 1, max: 5_000 }),
  })
  .map(({ share, leaseMs, ...rest }) => ({ ...rest, leaseMs, renewMs: Math.max(1, leaseMs * share) }))
  .filter(
    (timing) =>
      timing.renewMs * 2 <= timing.leaseMs && localValidity(timing.leaseMs, timing) > timing.renewMs,
  )

test('a deadline comes before the backend may expire the session, by the margin, on any clock within the drift', () => {
  const rate = fc.double({ min: -1, max: 1, noNaN: true })
  fc.assert(
    fc.property(timing, ms(1e7), ms(5_000), ms(1e6), rate, (timing, remaining, delay, sentAt, rate) => {
      // The backend counts from when the request arrives, on a clock that goes faster or slower than ours.
      const backendMsPerLocal = 1 + rate * timing.drift
      const expiresAt = sentAt + delay + remaining / backendMsPerLocal
      const deadline = deadlineOf(sentAt, remaining, timing)
      expect(deadline).toBeLessThanOrEqual(expiresAt - timing.marginMs + 1e-6)
      // Nor more careful than it must be.
      expect(deadline).toBeCloseTo(sentAt + remaining - remaining * timing.drift - timing.marginMs, 3)
    }),
    { numRuns: 1_000 },
  )
})

test('a deadline moves with the sending, and grows with what is granted', () => {
  fc.assert(
    fc.property(timing, ms(1e7), ms(1e7), ms(1e6), ms(1e6), (timing, a, b, sentAt, later) => {
      const [less, more] = a < b ? [a, b] : [b, a]
      expect(deadlineOf(sentAt, less, timing)).toBeLessThanOrEqual(deadlineOf(sentAt, more, timing))
      expect(deadlineOf(sentAt + later, less, timing)).toBeGreaterThanOrEqual(
        deadlineOf(sentAt, less, timing),
      )
    }),
  )
})

test('there is room for two renewals before the deadline, or the period is a third of what is left', () => {
  fc.assert(
    fc.property(timing, fc.double({ min: 0, max: 1.5, noNaN: true }), (timing, share) => {
      const granted = timing.leaseMs * share
      const validity = localValidity(granted, timing)
      fc.pre(validity > 0)
      const { periodMs, shortened } = renewalPeriod(granted, timing)
      expect(periodMs).toBeGreaterThan(0)
      expect(periodMs).toBeLessThanOrEqual(timing.renewMs)
      if (shortened) expect(periodMs).toBeCloseTo(Math.max(1, validity / 3), 6)
      // What was asked for and granted is what the options have been checked for.
      if (granted >= timing.leaseMs)
        expect({ periodMs, shortened }).toEqual({ periodMs: timing.renewMs, shortened: false })
      else expect(2 * periodMs).toBeLessThanOrEqual(Math.max(2, validity))
    }),
    { numRuns: 1_000 },
  )
})

test('a session that is granted less and less is renewed a bounded number of times before it ends', () => {
  fc.assert(
    fc.property(timing, (timing) => {
      const expiresAt = timing.leaseMs
      let [now, renewals] = [0, 0]
      for (;;) {
        const remaining = expiresAt - now
        if (deadlineOf(now, remaining, timing) <= now) break
        now += renewalPeriod(remaining, timing).periodMs
        renewals += 1
        expect(renewals).toBeLessThan(200)
      }
    }),
    { numRuns: 300 },
  )
})

test('tries of a failed renewal get denser as the deadline comes nearer, but never denser than the least backoff', () => {
  fc.assert(
    fc.property(timing, ms(1e6), ms(1e6), (timing, a, b) => {
      const deadline = 2e6
      const [near, far] = a < b ? [a, b] : [b, a]
      const soon = renewalBackoff(deadline - near, deadline, timing)
      expect(soon).toBeLessThanOrEqual(renewalBackoff(deadline - far, deadline, timing))
      expect(soon).toBeGreaterThanOrEqual(timing.minBackoffMs)
      expect(soon).toBeLessThanOrEqual(Math.max(timing.renewMs, timing.minBackoffMs))
      // Each leaves as much time again for the next.
      if (soon > timing.minBackoffMs) expect(soon).toBeLessThanOrEqual(near / 2 + 1e-6)
    }),
  )
})

test('openings back off to a renewal period and no further, and are spread', () => {
  fc.assert(
    fc.property(timing, fc.nat({ max: 5_000 }), random, random, (timing, failures, a, b) => {
      const wait = openingBackoff(failures, a, timing)
      expect(wait).toBeGreaterThanOrEqual(timing.minBackoffMs)
      expect(wait).toBeLessThanOrEqual(Math.max(timing.renewMs, timing.minBackoffMs))
      expect(openingBackoff(failures + 1, a, timing)).toBeGreaterThanOrEqual(wait)
      const late = Math.min(timing.renewMs, timing.minBackoffMs * 2 ** 16)
      if (late > 2 * timing.minBackoffMs && a !== b) {
        expect(openingBackoff(16, Math.min(a, b), timing)).toBeLessThanOrEqual(
          openingBackoff(16, Math.max(a, b), timing),
        )
      }
    }),
  )
  const one = {
    leaseMs: 15_000,
    renewMs: 5_000,
    drift: 0.01,
    marginMs: 50,
    retryJitterMs: 2_500,
    minBackoffMs: 100,
  }
  expect([0, 1, 2, 3, 10].map((failures) => openingBackoff(failures, 0.5, one))).toEqual([
    100, 150, 300, 600, 3_750,
  ])
})

test('a candidate waits half of a renewal period, and less than the jitter more', () => {
  fc.assert(
    fc.property(timing, random, (timing, random) => {
      const wait = retryDelay(random, timing)
      expect(wait).toBeGreaterThanOrEqual(timing.renewMs / 2)
      expect(wait).toBeLessThanOrEqual(timing.renewMs / 2 + timing.retryJitterMs)
    }),
  )
})
