/** Events: what a person who reads nothing else can tell from them. */
import type { SimbaEvent } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID } from './world.js'

/** What the types of events say without their details. */
function types(events: readonly SimbaEvent[]): readonly string[] {
  return events.map(({ type }) => type)
}

describe('a person can tell', () => {
  test('that another node holds it: once for each holder', async ({ world }) => {
    const a = world.client('a')
    a.election('x').start()
    await world.time.settle()
    world.client('b').election('x').start()
    await world.time.advance(3 * LEASE)
    const holder = a.snapshot().session.id
    expect(types(world.events('b'))).toEqual(['SessionOpened', 'LeaseHeld'])
    expect(world.published('LeaseHeld', 'b')).toEqual([{ type: 'LeaseHeld', name: 'x', holder }])
    world.client('c').election('x').start()
    await world.soon(a.close())
    await world.time.advance(RENEW)
    const heard = world.published('LeaseHeld', world.get('b').election('x').term === undefined ? 'b' : 'c')
    expect(new Set(heard.map((event) => event.holder)).size).toBe(heard.length)
  })

  test('that the backend cannot be reached: which call, for how long, why', async ({ world }) => {
    world.fault({ kind: 'fail-before', error: new Error('connection refused') })
    world.client().election('x').start()
    await world.time.advance(RENEW)
    expect(world.events()[0]).toMatchObject({
      type: 'BackendCallFailed',
      call: 'openSession',
      name: undefined,
      tookMs: 0,
      timedOut: false,
      error: {
        name: 'BackendError',
        code: 'SIMBA_BACKEND',
        message: 'memory: openSession failed: connection refused',
      },
    })
    expect(new Set(types(world.events()))).toEqual(new Set(['BackendCallFailed']))
  })

  test('that the backend does not answer: that it timed out, and after how long', async ({ world }) => {
    const simba = world.client()
    await world.soon(simba.ready())
    world.fault({ on: 'acquire', kind: 'lose-request', times: 1 })
    simba.election('x').start()
    await world.time.advance(RENEW)
    expect(world.published('BackendCallFailed')).toMatchObject([
      {
        call: 'acquire',
        name: 'x',
        tookMs: RENEW,
        timedOut: true,
        error: { message: expect.stringContaining('got no answer within 5000 ms') },
      },
    ])
  })

  test('how a term ended with its session: suspended, ended, opened anew, elected again', async ({
    world,
  }) => {
    const simba = world.client()
    simba.election('x').start()
    await world.time.settle()
    const session = simba.snapshot().session.id
    world.fault({ kind: 'lose-request' })
    await world.time.advance(VALID)
    world.heal()
    await world.time.advance(2 * LEASE)
    expect(types(world.events()).filter((type) => type !== 'BackendCallFailed')).toEqual([
      'SessionOpened',
      'Elected',
      'SessionSuspended',
      'Revoked',
      'SessionEnded',
      'SessionOpened',
      'Elected',
    ])
    expect(world.published('SessionSuspended')).toMatchObject([
      { session, validMs: VALID - 2 * RENEW, error: { code: 'SIMBA_BACKEND' } },
    ])
    expect(world.published('Revoked')).toEqual([
      { type: 'Revoked', name: 'x', token: 1n, reason: 'DEADLINE_PASSED' },
    ])
    expect(world.published('SessionEnded')).toEqual([
      { type: 'SessionEnded', session, reason: 'DEADLINE_PASSED' },
    ])
  })

  test('that a renewal failed and the next one did not', async ({ world }) => {
    const simba = world.client()
    simba.election('x').start()
    await world.time.settle()
    world.fault({ on: 'keepAlive', kind: 'fail-before', times: 1 })
    await world.time.advance(2 * RENEW)
    expect(types(world.events())).toEqual([
      'SessionOpened',
      'Elected',
      'BackendCallFailed',
      'SessionSuspended',
      'SessionResumed',
    ])
    expect(world.published('SessionResumed')[0]?.validMs).toBe(VALID)
  })

  test('that its lease is shorter than it asked for, once per session', async ({ world }) => {
    const { backend } = world
    const connection = backend.connect('a')
    const short = {
      ...{ name: 'short', close: () => connection.close() },
      openSession: async (...given: Parameters<typeof connection.openSession>) => ({
        ...(await connection.openSession(...given)),
        remainingMs: 6_000,
      }),
      keepAlive: async (...given: Parameters<typeof connection.keepAlive>) => {
        const reply = await connection.keepAlive(...given)
        return reply.kind === 'renewed' ? { ...reply, remainingMs: 6_000 } : reply
      },
      closeSession: connection.closeSession.bind(connection),
      acquire: connection.acquire.bind(connection),
      release: connection.release.bind(connection),
      join: connection.join.bind(connection),
      leave: connection.leave.bind(connection),
      members: connection.members.bind(connection),
    }
    const simba = world.client('a', { backend: short })
    simba.election('x').start()
    await world.time.advance(LEASE)
    const renewMs = (6_000 * 0.99 - 50) / 3
    expect(world.published('SessionLeaseShortened')).toEqual([
      {
        type: 'SessionLeaseShortened',
        session: simba.snapshot().session.id,
        askedMs: LEASE,
        grantedMs: 6_000,
        renewMs,
      },
    ])
    expect(simba.election('x').term?.isValid).toBe(true)
    const renewals = world.callsOf('keepAlive').map(({ at }) => at)
    expect((renewals[1] ?? 0) - (renewals[0] ?? 0)).toBeCloseTo(renewMs, 6)
  })

  test('how work ended, how long it took, and of what', async ({ world }) => {
    const simba = world.client()
    const failure = new Error('out of paper')
    simba.election('good').runWhileLeader(() => world.time.sleep(100))
    simba.election('bad').runWhileLeader(async () => {
      await world.time.sleep(200)
      throw failure
    })
    const cancelled = simba.election('cancelled').runWhileLeader(async (term) => {
      await term.revoked
      term.ensureValid()
    })
    await world.time.advance(300)
    await world.soon(cancelled.stop())
    expect(world.published('WorkCompleted')).toEqual([
      { type: 'WorkCompleted', name: 'good', token: 1n, outcome: 'SUCCEEDED', tookMs: 100 },
      { type: 'WorkCompleted', name: 'bad', token: 2n, outcome: 'FAILED', tookMs: 200, error: failure },
      {
        type: 'WorkCompleted',
        name: 'cancelled',
        token: 3n,
        outcome: 'CANCELLED',
        tookMs: 300,
        error: expect.objectContaining({ code: 'SIMBA_TERM_EXPIRED' }),
      },
    ])
  })

  test('that the backend has gone back behind a token', async ({ world }) => {
    const simba = world.client()
    simba.election('x').start()
    await world.time.settle()
    await world.soon(simba.election('x').stepDown(0))
    await world.time.settle()
    expect(simba.election('x').term?.token).toBe(2n)
    world.backend.loseData({ resetTokens: true })
    await world.time.advance(RENEW)
    expect(world.published('TokenWentBack')).toEqual([
      { type: 'TokenWentBack', name: 'x', token: 1n, highest: 2n },
    ])
  })

  test('by how long the event loop was blocked, and whether it cost the term', async ({ world }) => {
    const clock = world.time.clock()
    const simba = world.client('a', { clock })
    simba.election('x').start()
    await world.time.settle()
    clock.pause()
    await world.time.advance(RENEW + 4_000)
    clock.resume()
    await world.time.settle()
    expect(world.published('EventLoopBlocked')).toEqual([
      { type: 'EventLoopBlocked', blockedMs: 4_000, cost: false },
    ])
    expect(simba.election('x').term?.isValid).toBe(true)
    clock.pause()
    await world.time.advance(2 * LEASE)
    expect(simba.election('x').term?.isValid).toBe(false)
    clock.resume()
    await world.time.settle()
    expect(world.published('EventLoopBlocked')[1]).toMatchObject({ cost: true })
    expect(world.published('Revoked')).toMatchObject([{ reason: 'DEADLINE_PASSED' }])
  })

  test('nothing of a short pause, or of one without a term', async ({ world }) => {
    const clock = world.time.clock()
    const simba = world.client('a', { clock })
    simba.election('x').start()
    await world.time.settle()
    clock.pause()
    await world.time.advance(RENEW + 1_000)
    clock.resume()
    await world.time.settle()
    await world.soon(simba.election('x').stop())
    clock.pause()
    await world.time.advance(2 * RENEW)
    clock.resume()
    await world.time.settle()
    expect(world.published('EventLoopBlocked')).toEqual([])
  })
})

describe('listeners', () => {
  test('each hears everything until it ends its subscription, also one given twice', async ({ world }) => {
    const simba = world.silentClient()
    const heard: string[] = []
    const listener = ({ type }: SimbaEvent) => heard.push(type)
    const [off] = [simba.subscribe(listener), simba.subscribe(listener)]
    await world.soon(simba.ready())
    expect(heard).toEqual(['SessionOpened', 'SessionOpened'])
    off()
    off()
    simba.election('x').start()
    await world.time.settle()
    expect(heard).toEqual(['SessionOpened', 'SessionOpened', 'Elected'])
  })

  test('hear nothing after their signal has aborted', async ({ world }) => {
    const simba = world.silentClient()
    const controller = new AbortController()
    const heard: string[] = []
    simba.subscribe(({ type }) => heard.push(type), { signal: controller.signal })
    controller.abort()
    await world.soon(simba.ready())
    expect(heard).toEqual([])
  })

  test('one that throws disturbs neither the others nor the client', async ({ world }) => {
    const simba = world.silentClient()
    simba.subscribe(() => {
      throw new Error('broken listener')
    })
    const heard: string[] = []
    simba.subscribe(({ type }) => heard.push(type))
    simba.election('x').start()
    await world.time.settle()
    expect(heard).toEqual(['SessionOpened', 'Elected'])
    expect(world.logged).toMatchObject([
      { level: 'error', message: expect.stringContaining('an event listener threw') },
      { level: 'error' },
    ])
  })

  test('without any, what a person must know is logged, and nothing else', async ({ world }) => {
    const simba = world.silentClient()
    simba.election('good').start()
    await world.time.settle()
    expect(world.logged).toEqual([])
    const failure = new Error('out of paper')
    simba.election('bad').runWhileLeader(() => {
      throw failure
    })
    await world.time.settle()
    world.fault({ on: 'keepAlive', kind: 'fail-before', times: 1 })
    await world.time.advance(RENEW)
    expect(world.logged).toEqual([
      { level: 'error', message: 'Simba: the work of "bad" (token 2) failed.', details: [failure] },
      { level: 'warn', message: expect.stringContaining('a renewal failed; terms end in'), details: [] },
    ])
  })
})
