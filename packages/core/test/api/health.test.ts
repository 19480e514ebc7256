/** What `health()`, `snapshot()`, `inspect()` and `ready()` tell. */
import { BackendError, type LeaseBackend, UnsupportedError } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID } from './world.js'

describe('health is up', () => {
  test('before anything has needed a session', ({ world }) => {
    expect(world.client().health()).toEqual({ status: 'up', session: 'OPENING', problems: [] })
  })

  test('of a leader and of a follower', async ({ world }) => {
    for (const id of ['a', 'b']) {
      world.client(id).election('x').start()
      await world.time.settle()
    }
    expect(world.get('a').election('x').term).toBeDefined()
    expect(world.get('b').election('x').term).toBeUndefined()
    for (const id of ['a', 'b']) expect(world.get(id).health()).toMatchObject({ status: 'up', problems: [] })
  })

  test('in a cooldown, and of a task that runs long', async ({ world }) => {
    const simba = world.client()
    simba.election('x').start()
    simba.election('y').runWhileLeader(() => world.time.sleep(3 * LEASE))
    await world.time.settle()
    await world.soon(simba.election('x').stepDown('1m'))
    await world.time.advance(2 * LEASE)
    expect(simba.health()).toMatchObject({ status: 'up', problems: [] })
    await world.time.advance(LEASE)
  })
})

describe('health is degraded', () => {
  test('while a session is being opened, for less than a lease', async ({ world }) => {
    world.fault({ on: 'openSession', kind: 'fail-before' })
    const simba = world.client()
    simba.election('x').start()
    await world.time.advance(LEASE - 1)
    expect(simba.health()).toMatchObject({
      status: 'degraded',
      session: 'OPENING',
      problems: ['A session has been being opened for 15.0 s.'],
    })
    world.heal()
    await world.time.advance(RENEW)
    expect(simba.health().status).toBe('up')
  })

  test('after a failed renewal, with the time that is left', async ({ world }) => {
    const simba = world.client()
    simba.election('x').start()
    await world.time.settle()
    world.fault({ on: 'keepAlive', kind: 'fail-before', times: 1 })
    await world.time.advance(RENEW)
    expect(simba.health()).toMatchObject({
      status: 'degraded',
      session: 'SUSPENDED',
      problems: [
        `The last renewal failed; terms end in ${((VALID - RENEW) / 1000).toFixed(1)} s unless one succeeds.`,
      ],
    })
    await world.time.advance(RENEW)
    expect(simba.health().status).toBe('up')
  })
})

describe('health is down', () => {
  test('without a session for longer than a lease', async ({ world }) => {
    world.fault({ on: 'openSession', kind: 'fail-before' })
    const simba = world.client()
    simba.election('x').start()
    await world.time.advance(LEASE + 1_000)
    expect(simba.health()).toMatchObject({
      status: 'down',
      problems: [
        expect.stringContaining('no session for 16.0 s, longer than a lease: the backend cannot be reached'),
      ],
    })
  })

  test('when an election competes no more, since its loop is stuck in an ended term', async ({ world }) => {
    const simba = world.client('a')
    let release = () => {}
    const stuck = new Promise<void>((resolve) => {
      release = resolve
    })
    const loop = (async () => {
      for await (const term of simba.election('x').terms()) {
        await term.revoked
        await stuck
      }
    })()
    await world.time.settle()
    world.backend.expireSession(simba.snapshot().session.id ?? '')
    await world.time.advance(RENEW + LEASE)
    expect(simba.health().status).toBe('up')
    await world.time.advance(2)
    expect(simba.health()).toMatchObject({
      status: 'down',
      problems: [
        expect.stringMatching(/"x" does not compete: .*body of an ended term \(token 1\) for 15\.0 s/),
      ],
    })
    release()
    await world.time.settle()
    expect(simba.health().status).toBe('up')
    await world.soon(simba.close())
    await loop
  })

  test('once the client is closed', async ({ world }) => {
    const simba = world.client()
    await world.soon(simba.close())
    expect(simba.health()).toEqual({ status: 'down', session: 'CLOSED', problems: ['The client is closed.'] })
  })
})

describe('snapshot', () => {
  test('shows what runs, for how long, and for how long it has ignored the end of its term', async ({
    world,
  }) => {
    const simba = world.client()
    simba.election('x').runWhileLeader(() => world.time.sleep(20_000))
    await world.time.advance(2_000)
    expect(simba.snapshot()).toMatchObject({
      session: { state: 'LIVE', missingMs: 0, remainingMs: VALID - 2_000 },
      elections: [
        {
          name: 'x',
          use: 'task',
          state: 'leader',
          stopping: false,
          token: 1n,
          work: [{ token: 1n, runningMs: 2_000, overdueMs: 0 }],
        },
      ],
      locks: [],
      groups: [],
    })
    void simba.election('x').stop()
    await world.time.advance(3_000)
    expect(simba.snapshot().elections).toMatchObject([
      { state: 'handover', stopping: true, work: [{ runningMs: 5_000, overdueMs: 3_000 }] },
    ])
    await world.time.advance(20_000)
    expect(simba.snapshot().elections).toEqual([])
  })
})

describe('inspect', () => {
  test('shows the sessions of all clients with their metadata, and who holds what', async ({ world }) => {
    const a = world.client('a', { metadata: { host: 'alpha' }, namespace: 'billing' })
    const b = world.client('b')
    await world.soon(a.lock('x').acquire())
    b.group('g', { partitions: 1 }).runWhileLeader((term) => term.revoked)
    await world.time.settle()
    const [sessionA, sessionB] = [a, b].map((simba) => simba.snapshot().session.id)
    const { sessions, leases, groups } = await world.soon(b.inspect())
    expect(sessions).toContainEqual({ id: sessionA, remainingMs: LEASE, metadata: { host: 'alpha' } })
    expect(sessions).toContainEqual({ id: sessionB, remainingMs: LEASE, metadata: undefined })
    expect(leases).toContainEqual({ name: 'billing:x', holder: sessionA, token: 1n })
    expect(groups).toEqual([{ group: 'g', members: [sessionB] }])
  })

  test('fails within one call timeout', async ({ world }) => {
    world.fault({ on: 'inspect', kind: 'lose-request' })
    const error = await world.failure(world.client().inspect(), RENEW)
    expect(error).toBeInstanceOf(BackendError)
    expect(error).toMatchObject({ message: 'memory: inspect() got no answer within 5000 ms.' })
  })

  test('of a backend that cannot tell says so', async ({ world }) => {
    const { backend } = world
    const mute: LeaseBackend = {
      name: 'mute',
      openSession: (...given) => backend.openSession(...given),
      keepAlive: (...given) => backend.keepAlive(...given),
      closeSession: (...given) => backend.closeSession(...given),
      acquire: (...given) => backend.acquire(...given),
      release: (...given) => backend.release(...given),
      join: (...given) => backend.join(...given),
      leave: (...given) => backend.leave(...given),
      members: (...given) => backend.members(...given),
      close: () => backend.close(),
    }
    const simba = world.client('a', { backend: mute })
    for (const call of [() => simba.inspect(), () => simba.election('x').holder()]) {
      const error = await world.failure(call())
      expect(error).toBeInstanceOf(UnsupportedError)
      expect(error).toMatchObject({
        message: expect.stringContaining('the backend "mute" cannot list what it holds'),
      })
    }
  })
})

describe('ready', () => {
  test('resolves once the session is live, however long that takes', async ({ world }) => {
    world.fault({ on: 'openSession', kind: 'fail-before', times: 5 })
    const ready = world.track(world.client().ready())
    await world.time.advance(200)
    expect(ready.status).toBe('pending')
    await world.time.advance(6 * RENEW)
    expect(ready.status).toBe('fulfilled')
    expect(world.get('a').snapshot().session.state).toBe('LIVE')
  })

  test('rejects with the reason of its signal, and can be called again', async ({ world }) => {
    world.fault({ on: 'openSession', kind: 'fail-before' })
    const simba = world.client()
    const controller = new AbortController()
    const waiting = world.track(simba.ready({ signal: controller.signal }))
    await world.time.settle()
    const reason = new Error('start-up took too long')
    controller.abort(reason)
    await world.time.settle()
    expect(waiting.error).toBe(reason)
    world.heal()
    await world.time.until(simba.ready(), { within: RENEW })
  })
})

test('making a client does no I/O and sets no timer', async ({ world }) => {
  const simba = world.client()
  simba.election('x')
  simba.lock('y')
  simba.group('g', { partitions: 2 })
  simba.snapshot()
  simba.health()
  await world.time.advance(LEASE)
  expect(world.calls).toEqual([])
  expect(world.timers()).toBe(0)
})
