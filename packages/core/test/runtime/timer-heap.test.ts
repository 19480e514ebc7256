import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { TimerHeap } from '../../src/runtime/timer-heap.js'
import { HandClock } from './hand-clock.js'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

type Action =
  | { readonly do: 'arm'; readonly key: number; readonly delay: number; readonly follow: Follow | undefined }
  | { readonly do: 'disarm'; readonly key: number }
  | { readonly do: 'pass' | 'freeze'; readonly ms: number }
  | { readonly do: 'clear' | 'recheck' }

/** What a timer does when it fires. */
type Follow =
  | { readonly do: 'arm'; readonly key: number; readonly delay: number }
  | { readonly do: 'disarm'; readonly key: number }

interface Entry {
  readonly key: number
  readonly at: number
  readonly order: number
  readonly follow: Follow | undefined
}

/** The same in the fewest words: a list that is searched. */
class Model {
  readonly fired: string[] = []
  entries: Entry[] = []
  private order = 0

  arm(key: number, at: number, follow: Follow | undefined): void {
    this.disarm(key)
    this.entries.push({ key, at, order: this.order++, follow })
  }

  disarm(key: number): void {
    this.entries = this.entries.filter((entry) => entry.key !== key)
  }

  get first(): Entry | undefined {
    return [...this.entries].sort((a, b) => a.at - b.at || a.order - b.order)[0]
  }

  fireDue(now: number): void {
    for (let first = this.first; first !== undefined && first.at <= now; first = this.first) {
      this.disarm(first.key)
      this.fired.push(`${first.key} at ${now}`)
      if (first.follow?.do === 'arm') this.arm(first.follow.key, now + first.follow.delay, undefined)
      if (first.follow?.do === 'disarm') this.disarm(first.follow.key)
    }
  }

  pass(from: number, to: number): void {
    for (let first = this.first; first !== undefined && first.at <= to; first = this.first)
      this.fireDue(Math.max(from, first.at))
  }
}

const key = fc.nat({ max: 7 })
const delay = fc.integer({ min: -5, max: 60 })
const follow: fc.Arbitrary<Follow> = fc.oneof(
  fc.record({ do: fc.constant('arm' as const), key, delay: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ do: fc.constant('disarm' as const), key }),
)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('arm' as const),
      key,
      delay,
      follow: fc.option(follow, { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('disarm' as const), key }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('pass' as const, 'freeze' as const),
      ms: fc.nat({ max: 50 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('clear' as const, 'recheck' as const) }) },
)

test('fires what a plain list would, in the same order and at the same times, with one native timer', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => {
      const clock = new HandClock()
      const heap = new TimerHeap(clock)
      const model = new Model()
      const fired: string[] = []
      const arm = (key: number, at: number, follow: Follow | undefined): void =>
        heap.arm(key, at, (own) => {
          fired.push(`${own} at ${clock.time}`)
          if (follow?.do === 'arm') arm(follow.key, clock.time + follow.delay, undefined)
          if (follow?.do === 'disarm') heap.disarm(follow.key)
        })
      for (const action of actions) {
        switch (action.do) {
          case 'arm':
            arm(action.key, clock.time + action.delay, action.follow)
            model.arm(action.key, clock.time + action.delay, action.follow)
            break
          case 'disarm':
            heap.disarm(action.key)
            model.disarm(action.key)
            break
          case 'pass':
            model.pass(clock.time, clock.time + action.ms)
            clock.advance(action.ms)
            break
          case 'freeze':
            // The process stands still, and then everything that is due comes at once.
            clock.time += action.ms
            model.pass(clock.time, clock.time)
            clock.advance(0)
            break
          case 'clear':
            heap.clear()
            model.entries = []
            break
          case 'recheck':
            heap.recheck()
        }
        expect(fired).toEqual(model.fired)
        expect(heap.size).toBe(model.entries.length)
        expect(clock.pending).toBe(heap.size === 0 ? 0 : 1)
        const first = model.first
        expect(heap.lateness(clock.time)).toBe(first === undefined ? -Infinity : clock.time - first.at)
        if (first !== undefined) expect(clock.nextAt).toBeLessThanOrEqual(Math.max(clock.time, first.at))
      }
    }),
    { numRuns: 500 },
  )
})

describe('a hundred thousand timers', () => {
  const MANY = 100_000

  test('take one native timer, fire in order, and leave nothing', () => {
    const clock = new HandClock()
    const heap = new TimerHeap(clock)
    let latest = -1
    let disorder = 0
    for (let index = 0; index < MANY; index += 1) {
      const at = 1 + ((index * 7_919) % MANY)
      heap.arm(index, at, () => {
        if (at < latest || at > clock.time) disorder += 1
        latest = at
      })
    }
    expect(clock.pending).toBe(1)
    clock.time = MANY
    clock.advance(0)
    expect({ disorder, latest, left: heap.size, natives: clock.pending }).toEqual({
      disorder: 0,
      latest: MANY,
      left: 0,
      natives: 0,
    })
    expect(clock.fired).toBeLessThanOrEqual(2)
  })

  test('that are armed later and later set the native timer once', () => {
    const clock = new HandClock()
    const heap = new TimerHeap(clock)
    for (let index = 0; index < MANY; index += 1) heap.arm(index, 1_000 + index, () => {})
    expect(clock.set).toBe(1)
    for (let index = MANY - 1; index >= 0; index -= 1) heap.disarm(index)
    expect({ size: heap.size, natives: clock.pending }).toEqual({ size: 0, natives: 0 })
  })
})

test('a timer that arms itself again at once gives the event loop its turn in between', () => {
  const clock = new HandClock()
  const heap = new TimerHeap(clock)
  let runs = 0
  const again = (): void => {
    runs += 1
    if (runs > 10) throw new Error('The heap goes round in circles.')
    heap.arm('again', clock.time, again)
  }
  heap.arm('again', 0, again)
  clock.fireNext()
  expect({ runs, natives: clock.pending }).toEqual({ runs: 1, natives: 1 })
  clock.fireNext()
  expect(runs).toBe(2)
})

test('a timer that throws does not keep the others from firing', () => {
  const clock = new HandClock()
  const heap = new TimerHeap(clock)
  const fired: string[] = []
  heap.arm('bad', 10, () => {
    throw new Error('bad')
  })
  heap.arm('good', 10, () => fired.push('good'))
  clock.time = 10
  expect(() => clock.fireNext()).toThrow('bad')
  clock.advance(0)
  expect(fired).toEqual(['good'])
})

test('a jump of the clock makes what has become due fire in the next turn', () => {
  const clock = new HandClock()
  const heap = new TimerHeap(clock)
  const fired: number[] = []
  heap.arm('later', 5_000, () => fired.push(clock.time))
  clock.time = 60_000
  heap.recheck()
  expect(fired).toEqual([])
  expect(clock.nextAt).toBe(60_000)
  clock.advance(0)
  expect(fired).toEqual([60_000])
})
