/** Schedules: when runs start, in which terms, and what a run cannot disturb. */
import { ConfigError, Schedule } from '@simba/core'
import { VirtualTime } from '@simba/testing'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

const MINUTE = 60_000

/** Starts a schedule that notes when each run starts; the runs last as long as `lasts` says. */
function scheduled(world: World, schedule: Schedule, lasts: readonly number[] = []): number[] {
  const starts: number[] = []
  world
    .client()
    .election('report')
    .schedule(schedule, async () => {
      const ms = lasts[starts.length] ?? 0
      starts.push(world.time.now())
      if (ms > 0) await world.time.sleep(ms)
    })
  return starts
}

describe('fixedDelay', () => {
  test('runs at once, and then waits the delay from the end of a run to the next start', async ({
    world,
  }) => {
    const starts = scheduled(world, Schedule.fixedDelay('10s'), [0, 3_000, 25_000, 0])
    await world.time.advance(90_000)
    expect(starts).toEqual([0, 10_000, 23_000, 58_000, 68_000, 78_000, 88_000])
  })

  test('starts the first run after the initial delay', async ({ world }) => {
    const starts = scheduled(world, Schedule.fixedDelay(10_000, { initialDelay: '4s' }))
    await world.time.advance(30_000)
    expect(starts).toEqual([4_000, 14_000, 24_000])
  })
})

describe('fixedRate', () => {
  test('starts runs at whole periods from the first', async ({ world }) => {
    const starts = scheduled(world, Schedule.fixedRate('10s', { initialDelay: 2_500 }), [9_000, 1, 0, 9_999])
    await world.time.advance(50_000)
    expect(starts).toEqual([2_500, 12_500, 22_500, 32_500, 42_500])
  })

  test('skips the starts that a run has missed, never overlaps, and keeps to its beat', async ({ world }) => {
    const starts = scheduled(world, Schedule.fixedRate('10s'), [0, 25_000, 0, 10_000, 10_001, 0])
    await world.time.advance(100_000)
    // 10 s to 35 s; then the first beat at or after the end. A run of exactly a period is followed at once.
    expect(starts).toEqual([0, 10_000, 40_000, 50_000, 60_000, 80_000, 90_000, 100_000])
  })

  test('starts at s + k × period, with the smallest k that is new and not before the end of the last run', async ({
    world,
  }) => {
    const lasts = [1, 9_999, 10_000, 10_001, 19_999, 20_000, 20_001, 30_000, 5, 99_999]
    const starts = scheduled(world, Schedule.fixedRate(10_000, { initialDelay: 700 }), lasts)
    await world.time.advance(400_000)
    let expected = 700
    for (const [run, start] of starts.entries()) {
      expect(start).toBe(expected)
      const ended = start + (lasts[run] ?? 0)
      expected = Math.max(start + 10_000, 700 + Math.ceil((ended - 700) / 10_000) * 10_000)
    }
    expect(starts.length).toBeGreaterThan(lasts.length)
  })

  test('runs once after the event loop was blocked, however many starts it missed', async ({ world }) => {
    const starts = scheduled(world, Schedule.fixedRate('1s'))
    await world.time.advance(2_500)
    world.time.jump(8_000)
    await world.time.advance(0)
    expect(starts).toEqual([0, 1_000, 2_000, 10_500])
    await world.time.advance(2_000)
    expect(starts).toEqual([0, 1_000, 2_000, 10_500, 11_000, 12_000])
  })

  test.for(['due', 'delayed'] as const)(
    'runs once after the machine slept for 84 minutes, in a new term (timers %s)',
    async (timers, { world }) => {
      const starts = scheduled(world, Schedule.fixedRate('1m'))
      await world.time.advance(10_000)
      const steps = world.calls.length
      world.time.jump(84 * MINUTE, { timers })
      await world.time.advance(1_000)

      expect(starts).toHaveLength(2)
      expect(world.published('Revoked')).toMatchObject([{ reason: 'DEADLINE_PASSED' }])
      expect(world.published('Elected').at(-1)?.token).toBe(2n)
      expect(world.calls.length - steps).toBeLessThan(10)
    },
  )
})

describe('each term', () => {
  test('has a loop of its own, and its own initial delay', async ({ world }) => {
    const simba = world.client()
    const runs: string[] = []
    simba.election('report').schedule(Schedule.fixedRate('10s', { initialDelay: '3s' }), (term) => {
      runs.push(`${world.time.now()} ${term.token}`)
    })
    await world.time.advance(15_000)
    await world.soon(simba.election('report').stepDown('2s'))
    await world.time.advance(15_000)

    expect(runs).toEqual(['3000 1', '13000 1', '20000 2', '30000 2'])
  })

  test('that has ended starts no run any more', async ({ world }) => {
    const a = world.client('a').election('report')
    const runs: string[] = []
    a.schedule(Schedule.fixedRate('700ms'), (term) => {
      expect(term.isValid).toBe(true)
      runs.push(`${world.time.now()} ${term.token}`)
    })
    await world.time.settle()
    world.fault({ kind: 'lose-request' })
    await world.time.advance(10 * LEASE)

    expect(runs.at(-1)).toBe(`${Math.floor(VALID / 700) * 700} 1`)
    world.heal()
    await world.time.advance(2 * LEASE)
    expect(runs.at(-1)).toMatch(/ 2$/)
  })

  test('that ends during a run lets the run finish, and starts no other', async ({ world }) => {
    const simba = world.client()
    const runs: string[] = []
    const task = simba.election('report').schedule(Schedule.fixedRate('1s'), async (term) => {
      runs.push(`${world.time.now()} begins`)
      await world.time.sleep(600)
      runs.push(`${world.time.now()} ends, valid=${term.isValid}`)
    })
    await world.time.advance(1_200)
    const stopped = world.track(task.stop())
    await world.time.advance(5_000)

    expect(runs).toEqual(['0 begins', '600 ends, valid=true', '1000 begins', '1600 ends, valid=false'])
    expect(stopped.at).toBe(1_600)
  })

  test('that ends between two runs ends at once', async ({ world }) => {
    const task = world
      .client()
      .election('report')
      .schedule(Schedule.fixedDelay('1h'), () => {})
    await world.time.advance(1_000)
    await world.soon(task.stop())
    expect(world.holderOf('report')).toBeUndefined()
  })

  test('that ends before its initial delay is over runs nothing', async ({ world }) => {
    const starts = scheduled(world, Schedule.fixedDelay('1s', { initialDelay: '10s' }))
    await world.time.advance(9_000)
    await world.soon(world.get('a').election('report').stop())
    await world.time.advance(LEASE)
    expect(starts).toEqual([])
  })

  test('is left to the next leader: a due run starts there within the takeover time and its period', async ({
    world,
  }) => {
    const runs: string[] = []
    for (const id of ['a', 'b']) {
      world
        .client(id)
        .election('report')
        .schedule(Schedule.fixedRate('1m'), (term) => void runs.push(`${id} ${term.token}`))
      await world.time.settle()
    }
    // The leader is cut off, and its deadline passes just before its next run is due.
    await world.time.advance(46_000)
    world.fault({ client: 'a', kind: 'lose-request' })
    await world.time.advance(2 * LEASE)

    expect(runs).toEqual(['a 1', 'b 2'])
    world.heal()
    await world.time.advance(RENEW)
  })
})

describe('a run that fails', () => {
  test('is reported, and never stops the loop', async ({ world }) => {
    const simba = world.client()
    let run = 0
    simba.election('report').schedule(Schedule.fixedRate('1s'), () => {
      run += 1
      if (run === 1) throw new Error('first')
      if (run === 2) return Promise.reject(new TypeError('second'))
      if (run === 3) throw undefined
      return run
    })
    await world.time.advance(3_500)

    expect(world.published('WorkCompleted').map(({ outcome, error }) => [outcome, error])).toEqual([
      ['FAILED', new Error('first')],
      ['FAILED', new TypeError('second')],
      ['FAILED', undefined],
      ['SUCCEEDED', undefined],
    ])
    expect(simba.election('report').term).toMatchObject({ token: 1n, isValid: true })
  })

  test('because its term ended is reported as CANCELLED', async ({ world }) => {
    const task = world
      .client()
      .election('report')
      .schedule(Schedule.fixedRate('1s'), (term) => world.time.sleep(900, { signal: term.signal }))
    await world.time.advance(1_500)
    await world.soon(task.stop())

    expect(world.published('WorkCompleted').map(({ outcome, tookMs }) => [outcome, tookMs])).toEqual([
      ['SUCCEEDED', 900],
      ['CANCELLED', 500],
    ])
  })
})

describe('Schedule', () => {
  test.for([
    [0, /the delay is 0; it must be at least 1 ms/],
    [-5, /the delay is -5; it must be at least 1 ms/],
    [Number.NaN, /the delay is NaN; give a number of milliseconds, or a text such as '500ms'/],
    [Number.POSITIVE_INFINITY, /the delay is Infinity; give/],
    ['1 m', /the delay is '1 m'; give/],
    ['1w', /the delay is '1w'; give/],
    [undefined, /the delay is undefined; give/],
  ] as const)('refuses a delay of %s, and says what is allowed', ([delay, message]) => {
    // @ts-expect-error some are no durations
    expect(() => Schedule.fixedDelay(delay)).toThrow(ConfigError)
    // @ts-expect-error some are no durations
    expect(() => Schedule.fixedDelay(delay)).toThrow(message)
    // @ts-expect-error some are no durations
    expect(() => Schedule.fixedRate(delay)).toThrow(/the period is /)
  })

  test('refuses options that do not exist, or are no options', () => {
    // @ts-expect-error no such option
    expect(() => Schedule.fixedRate('1m', { delay: '1s' })).toThrow(
      'Schedule.fixedRate has no option "delay"; there are: initialDelay.',
    )
    // @ts-expect-error no options
    expect(() => Schedule.fixedRate('1m', '10s')).toThrow(
      'Schedule.fixedRate takes its options as an object: { initialDelay }. Given was "10s".',
    )
    expect(() => Schedule.fixedRate('1m', { initialDelay: -1 })).toThrow(
      /initialDelay is -1; it must be at least 0 ms/,
    )
  })

  test('is required by schedule, and the work a function', async ({ world }) => {
    const election = world.client().election('report')
    // @ts-expect-error no schedule
    expect(() => election.schedule('1m', () => {})).toThrow(/needs a Schedule: Schedule\.fixedDelay/)
    // @ts-expect-error no function
    expect(() => election.schedule(Schedule.fixedRate('1m'))).toThrow(
      'schedule: the work must be a function; given was undefined.',
    )
    // @ts-expect-error no function
    expect(() => election.runWhileLeader({})).toThrow(
      'runWhileLeader: the work must be a function; given was an object.',
    )
    election.start()
  })

  test('a period of a year does not fire early', async () => {
    using time = new VirtualTime()
    expect(Schedule.fixedRate('365d').nextStart(0, 0, time.now())).toBe(365 * 86_400_000)
  })
})
