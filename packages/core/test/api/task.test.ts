/** runWhileLeader: work that runs while its node leads. */
import { ClosedError, type LeaderTask } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID } from './world.js'

describe('the work', () => {
  test('runs once in each term, and is given that term', async ({ world }) => {
    const simba = world.client()
    const tokens: bigint[] = []
    const election = simba.election('report')
    election.runWhileLeader(async (term) => {
      tokens.push(term.token)
      expect(term).toBe(election.term)
      await term.revoked
    })
    await world.time.settle()
    for (let round = 0; round < 3; round += 1) {
      await world.soon(election.stepDown(0))
      await world.time.settle()
    }

    expect(tokens).toEqual([1n, 2n, 3n, 4n])
  })

  test('that returns early keeps its term, idle, and is not run again before the next', async ({ world }) => {
    const simba = world.client()
    let runs = 0
    simba.election('report').runWhileLeader(() => {
      runs += 1
    })
    await world.time.advance(5 * LEASE)

    expect(runs).toBe(1)
    expect(simba.election('report').term).toMatchObject({ token: 1n, isValid: true })
    await world.soon(simba.election('report').stepDown(0))
    await world.time.settle()
    expect(runs).toBe(2)
  })

  test('may be a function that is not async', async ({ world }) => {
    world
      .client()
      .election('report')
      .runWhileLeader((term) => String(term.token))
    await world.time.settle()
    expect(world.published('WorkCompleted')).toEqual([
      { type: 'WorkCompleted', name: 'report', token: 1n, outcome: 'SUCCEEDED', tookMs: 0 },
    ])
  })

  test('is interrupted by its signal, which carries the reason', async ({ world }) => {
    const simba = world.client()
    const task = simba
      .election('report')
      .runWhileLeader((term) => world.time.sleep(1_000_000, { signal: term.signal }))
    await world.time.advance(3_000)
    await world.soon(task.stop())

    expect(world.published('WorkCompleted')).toEqual([
      {
        type: 'WorkCompleted',
        name: 'report',
        token: 1n,
        outcome: 'CANCELLED',
        tookMs: 3_000,
        error: expect.objectContaining({ code: 'SIMBA_TERM_REVOKED', reason: 'STOPPED' }),
      },
    ])
  })

  test.for([
    [
      'throws',
      () => {
        throw new Error('no luck')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no luck'))],
  ] as const)('that %s is reported as FAILED, and leaves the term as it is', async ([, fail], { world }) => {
    const simba = world.client()
    simba.election('report').runWhileLeader(fail)
    await world.time.advance(LEASE)

    expect(world.published('WorkCompleted')).toMatchObject([
      { outcome: 'FAILED', error: { message: 'no luck' } },
    ])
    expect(simba.election('report').term).toMatchObject({ token: 1n, isValid: true })
  })

  test('that fails after its term has ended is reported as CANCELLED', async ({ world }) => {
    const task = world
      .client()
      .election('report')
      .runWhileLeader(async (term) => {
        await term.revoked
        throw new Error('interrupted')
      })
    await world.time.settle()
    await world.soon(task.stop())
    expect(world.published('WorkCompleted')).toMatchObject([{ outcome: 'CANCELLED' }])
  })

  test('that succeeds after its term has ended is reported as SUCCEEDED', async ({ world }) => {
    const task = world
      .client()
      .election('report')
      .runWhileLeader((term) => term.revoked)
    await world.time.settle()
    await world.soon(task.stop())
    expect(world.published('WorkCompleted')).toMatchObject([{ outcome: 'SUCCEEDED' }])
  })

  test.for([undefined, null, 'text', 42])('may throw %s, too', async (thrown, { world }) => {
    world
      .client()
      .election('report')
      .runWhileLeader(() => {
        throw thrown
      })
    await world.time.settle()
    expect(world.published('WorkCompleted')).toMatchObject([{ outcome: 'FAILED' }])
    expect(world.published('WorkCompleted')[0]?.error).toBe(thrown)
  })

  test('of an ended term that goes on beside its successor is told of, with both tokens', async ({
    world,
  }) => {
    const simba = world.client()
    simba.election('report').runWhileLeader(() => new Promise(() => {}))
    await world.time.settle()
    world.backend.loseData()
    await world.time.advance(2 * RENEW)

    expect(world.logged).toEqual([
      {
        level: 'warn',
        message:
          'Simba: the work of "report" of an earlier term (token 1) is still running while that of token 2 begins. Make it stop when its term\'s signal aborts.',
        details: [],
      },
    ])
    expect(simba.snapshot().elections[0]?.work).toMatchObject([{ token: 1n }, { token: 2n }])
  })
})

describe('stop', () => {
  test('keeps the lease until the work has exited, renewing the session meanwhile', async ({ world }) => {
    const b = world.client('b').election('report')
    const task = world
      .client('a')
      .election('report')
      .runWhileLeader(async (term) => {
        await term.revoked
        await world.time.sleep(12_000)
      })
    await world.time.advance(4_000)
    b.start()
    const stopped = world.track(task.stop())
    const renewals = world.callsOf('keepAlive', 'a').length
    await world.time.advance(11_999 - 1_200)
    expect(world.holderOf('report')).toBe(world.get('a').snapshot().session.id)
    expect(world.callsOf('keepAlive', 'a').length).toBeGreaterThanOrEqual(renewals + 2)
    expect(stopped.status).toBe('pending')
    expect(b.term).toBeUndefined()
    await world.time.advance(1_200 + 1)

    // The deadline as it stood at the stop comes first, since nothing had been renewed at 4 s.
    expect(stopped.at).toBe(VALID)
    expect(b.term?.isValid).toBe(true)
  })

  test('is idempotent, before, during and after', async ({ world }) => {
    const task = world
      .client()
      .election('report')
      .runWhileLeader(async (term) => {
        await term.revoked
        await world.time.sleep(100)
      })
    await world.time.settle()
    const stops = [task.stop(), task.stop(), task[Symbol.asyncDispose]()].map((stop) => world.track(stop))
    await world.time.advance(100)
    expect(stops.map(({ at }) => at)).toEqual([100, 100, 100])
    await world.soon(task.stop())
  })

  test('of an old handle leaves a new start of the name alone', async ({ world }) => {
    const election = world.client().election('report')
    const old = election.runWhileLeader((term) => term.revoked)
    await world.time.settle()
    await world.soon(old.stop())
    const fresh = election.runWhileLeader((term) => term.revoked)
    await world.time.settle()
    await world.soon(old.stop())
    await world.time.settle()

    expect(election.term?.token).toBe(2n)
    expect(world.track(fresh.done).status).toBe('pending')
  })

  test('at the end of its block, for a task declared with await using', async ({ world }) => {
    const election = world.client().election('report')
    let outcome = ''
    await world.soon(
      (async () => {
        {
          await using _task = election.runWhileLeader(async (term) => {
            await term.revoked
            outcome = 'exited'
          })
          await election.holder()
        }
        expect(outcome).toBe('exited')
        expect(world.holderOf('report')).toBeUndefined()
      })(),
    )
  })

  test('settles within one call timeout after the work, when the backend is gone', async ({ world }) => {
    const task = world
      .client()
      .election('report')
      .runWhileLeader((term) => term.revoked)
    await world.time.advance(1_000)
    world.fault({ kind: 'lose-request' })
    const stopped = world.track(task.stop())
    await world.time.advance(LEASE)
    expect(stopped.at).toBe(1_000 + RENEW)
  })
})

describe('done', () => {
  const endings: {
    readonly [how: string]: (
      task: LeaderTask,
      controller: AbortController,
      world: import('./world.js').World,
    ) => unknown
  } = {
    'its stop': (task) => void task.stop(),
    'the election’s stop': (_, __, world) => void world.get('a').election('report').stop(),
    'its signal': (_, controller) => controller.abort(),
    'the client’s close': (_, __, world) => void world.get('a').close(),
  }

  test.for(Object.keys(endings))(
    'settles when the task has stopped for good, by %s',
    async (how, { world }) => {
      const controller = new AbortController()
      const task = world
        .client()
        .election('report')
        .runWhileLeader(
          async (term) => {
            await term.revoked
            await world.time.sleep(300)
          },
          { signal: controller.signal },
        )
      const done = world.track(task.done)
      await world.soon(world.get('a').election('report').stepDown(0))
      await world.time.advance(1_000)
      expect(done.status).toBe('pending')
      endings[how]?.(task, controller, world)
      await world.time.advance(300)

      expect(done.at).toBe(world.time.now())
      expect(task.name).toBe('report')
    },
  )
})

test('a closed client refuses to start a task, by name', async ({ world }) => {
  const simba = world.client()
  await world.soon(simba.close())
  expect(() => simba.election('report').runWhileLeader(() => {})).toThrow(ClosedError)
  expect(() => simba.election('report').runWhileLeader(() => {})).toThrow(
    'election("report").runWhileLeader(): this client is closed. Make a new Simba to go on.',
  )
})
