import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { SystemClock, systemSources, type TimeSources } from '../../src/runtime/system-clock.js'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

/** A machine that runs, sleeps, and has its wall clock set. */
class Machine implements TimeSources {
  ran = 1_000
  slept = 0
  wallSet = 1.7e12
  /** How coarse the clock since boot is. */
  bootGrain = 10
  bootReadings = 0
  readonly delays: number[] = []

  monotonic(): number {
    return this.ran
  }

  wall(): number {
    return this.ran + this.slept + this.wallSet
  }

  boot(): number {
    this.bootReadings += 1
    return Math.floor((this.ran + this.slept) / this.bootGrain) * this.bootGrain
  }

  setTimer(_callback: () => void, delayMs: number): () => void {
    this.delays.push(delayMs)
    return () => {}
  }
}

function watched(): { machine: Machine; clock: SystemClock; jumps: () => number } {
  const machine = new Machine()
  const clock = new SystemClock(machine)
  let jumps = 0
  clock.onJump(() => {
    jumps += 1
  })
  return { machine, clock, jumps: () => jumps }
}

test('the time that the machine slept is counted at the first reading, and told of once', () => {
  const { machine, clock, jumps } = watched()
  const before = clock.now()
  machine.slept += 3_600_000
  expect(clock.now() - before).toBe(3_600_000)
  machine.ran += 5
  expect(clock.now() - before).toBe(3_600_005)
  expect(jumps()).toBe(1)
})

test.each([3_600_000, -3_600_000])('a wall clock that is set by %i ms is no sleep', (ms) => {
  const { machine, clock, jumps } = watched()
  const before = clock.now()
  machine.wallSet += ms
  expect(clock.now()).toBe(before)
  machine.slept += 60_000
  expect(clock.now() - before).toBe(60_000)
  expect(jumps()).toBe(1)
})

test('a machine whose wall clock is set back as it wakes up has slept all the same', () => {
  const { machine, clock } = watched()
  const before = clock.now()
  machine.slept += 60_000
  machine.wallSet -= 90_000
  expect(clock.now() - before).toBe(60_000)
})

test('a clock whose boot time jumps back, as in a restored snapshot, does not go back', () => {
  const { machine, clock, jumps } = watched()
  machine.slept += 60_000
  const before = clock.now()
  machine.slept -= 50_000
  expect(clock.now()).toBe(before)
  expect(jumps()).toBe(1)
})

test('without a jump the clock since boot is not read again', () => {
  const { machine, clock } = watched()
  for (let reading = 0; reading < 1_000; reading += 1) {
    machine.ran += 20
    machine.wallSet += 0.01
    clock.now()
  }
  expect(machine.bootReadings).toBe(1)
})

test('a wall clock that was set has the clock since boot read once more, not at each reading', () => {
  const { machine, clock } = watched()
  machine.wallSet += 3_600_000
  for (let reading = 0; reading < 100; reading += 1) clock.now()
  expect(machine.bootReadings).toBe(2)
})

test('a listener that was taken away hears nothing', () => {
  const { machine, clock, jumps } = watched()
  let heard = 0
  clock.onJump(() => {
    heard += 1
  })()
  machine.slept += 60_000
  clock.now()
  expect({ heard, jumps: jumps() }).toEqual({ heard: 0, jumps: 1 })
})

const happening = fc.oneof(
  fc.record({ kind: fc.constant('run' as const), ms: fc.nat({ max: 10_000 }) }),
  fc.record({
    kind: fc.constant('sleep' as const),
    ms: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 10_000_000 })),
  }),
  fc.record({ kind: fc.constant('set' as const), ms: fc.integer({ min: -10_000_000, max: 10_000_000 }) }),
)

test('the clock never goes back, and is never further than 90 ms from the time that passed, asleep or not', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80, size: 'max' }), (happenings) => {
      const machine = new Machine()
      const clock = new SystemClock(machine)
      let latest = clock.now()
      for (const { kind, ms } of happenings) {
        if (kind === 'run') machine.ran += ms
        if (kind === 'sleep') machine.slept += ms
        if (kind === 'set') machine.wallSet += ms
        const now = clock.now()
        expect(now).toBeGreaterThanOrEqual(latest)
        // What the two coarse looks may miss: a sleep of 40 ms unseen, as much again uncounted, and one grain.
        expect(Math.abs(now - machine.ran - machine.slept)).toBeLessThanOrEqual(90)
        latest = now
      }
    }),
    { numRuns: 1_000 },
  )
})

test('timers of any length are handed on as they are', () => {
  const { machine, clock } = watched()
  clock.setTimer(() => {}, 0)
  clock.setTimer(() => {}, 1e12)
  expect(machine.delays).toEqual([0, 1e12])
})

test('a native timer longer than Node can wait for does not fire at once', async () => {
  let fired = false
  const cancel = systemSources.setTimer(() => {
    fired = true
  }, 1e12)
  // Node turns a delay that is too long into 1 ms, so a timer of 5 ms would come after it.
  await new Promise<void>((resolve) => void systemSources.setTimer(resolve, 5))
  cancel()
  expect(fired).toBe(false)
})
