/** Closing: it ends everything in order, within a bound, and leaves nothing behind. */
import { ClosedError, type Simba } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

describe('close', () => {
  test('ends terms, waits for work, gives leases and session back, and tells onRevoked', async ({
    world,
  }) => {
    const simba = world.client()
    const lines: string[] = []
    simba.election('plain').start({ onRevoked: (_, reason) => void lines.push(`revoked ${reason}`) })
    simba.election('task').runWhileLeader(async (term) => {
      await term.revoked
      await world.time.sleep(2_000)
      lines.push('exited')
    })
    const held = await world.soon(simba.lock('lock').acquire())
    const closing = world.track(simba.close())
    await world.time.advance(1_999)
    expect(held.isValid).toBe(false)
    expect(closing.status).toBe('pending')
    // Others do not wait for the slowest work.
    expect(world.holderOf('plain')).toBeUndefined()
    expect(world.holderOf('task')).toBeDefined()
    await world.time.advance(2)
    expect(closing.status).toBe('fulfilled')
    expect(lines).toEqual(['revoked STOPPED', 'exited'])
    expect(world.backend.contents()).toMatchObject({ sessions: [], leases: [] })
    expect(world.timers()).toBe(0)
  })

  test('waits for work no longer than the deadline as it stood', async ({ world }) => {
    const simba = world.client()
    simba.election('task').runWhileLeader(() => world.time.sleep(3 * LEASE))
    await world.time.advance(1_000)
    const closing = world.track(simba.close())
    await world.time.advance(VALID)
    expect(closing.at).toBe(VALID)
    await world.time.advance(3 * LEASE)
  })

  test('with force waits for no work', async ({ world }) => {
    const simba = world.client()
    simba.election('task').runWhileLeader(() => world.time.sleep(LEASE))
    await world.time.settle()
    await world.soon(simba.close({ force: true }))
    expect(world.backend.contents().sessions).toEqual([])
    await world.time.advance(LEASE)
  })

  test('with force ends a close that is waiting', async ({ world }) => {
    const simba = world.client()
    simba.election('task').runWhileLeader(() => world.time.sleep(LEASE))
    await world.time.settle()
    const patient = world.track(simba.close())
    await world.time.advance(1_000)
    expect(patient.status).toBe('pending')
    await world.soon(simba.close({ force: true }))
    expect(patient.status).toBe('fulfilled')
    await world.time.advance(LEASE)
  })

  test('is idempotent, and may be called by `await using`', async ({ world }) => {
    const simba = world.client()
    await world.soon(simba.ready())
    const all = [simba.close(), simba.close(), simba[Symbol.asyncDispose]()]
    await world.soon(Promise.all(all))
    await world.soon(simba.close())
    expect(world.callsOf('closeSession')).toHaveLength(1)
  })

  test('of a client that was never used does no I/O', async ({ world }) => {
    const simba = world.client()
    await world.soon(simba.close())
    expect(world.calls).toEqual([])
  })

  test('leaves an acquire that waits, and gives back what it wins', async ({ world }) => {
    const simba = world.client()
    await world.soon(simba.ready())
    world.fault({ on: 'acquire', kind: 'delay-reply', ms: 1_000 })
    const waiting = world.track(simba.lock('x').acquire())
    await world.time.advance(10)
    const closing = world.track(simba.close())
    await world.time.advance(RENEW)
    expect(waiting.error).toBeInstanceOf(ClosedError)
    expect(closing.status).toBe('fulfilled')
    expect(world.backend.contents()).toMatchObject({ sessions: [], leases: [] })
  })
})

describe('close within one call timeout', () => {
  const situations: Readonly<Record<string, (world: World) => Promise<Simba>>> = {
    'while the session is being opened': async (world) => {
      const simba = world.client()
      world.fault({ kind: 'lose-request' })
      void simba.ready().catch(() => {})
      await world.time.settle()
      return simba
    },
    'while an acquire is not answered': async (world) => {
      const simba = world.client()
      await world.soon(simba.ready())
      world.fault({ kind: 'lose-request' })
      simba.election('x').start()
      await world.time.settle()
      return simba
    },
    'while it leads, with a backend that never answers': async (world) => {
      const simba = world.client()
      simba.election('x').start()
      await world.time.settle()
      world.fault({ kind: 'lose-request' })
      return simba
    },
    'with a backend that fails every call': async (world) => {
      const simba = world.client()
      simba.election('x').start()
      await world.time.settle()
      world.fault({ kind: 'fail-before' })
      return simba
    },
    'with a frozen backend': async (world) => {
      const simba = world.client()
      simba.election('x').start()
      await world.time.settle()
      world.backend.freeze()
      return simba
    },
    'while a renewal is not answered': async (world) => {
      const simba = world.client()
      simba.election('x').start()
      await world.time.settle()
      world.fault({ kind: 'lose-request' })
      await world.time.advance(RENEW + 100)
      return simba
    },
    'in the time between two tries to open a session': async (world) => {
      const simba = world.client()
      world.fault({ kind: 'fail-before' })
      void simba.ready().catch(() => {})
      await world.time.advance(20_000)
      return simba
    },
    'with a group whose leave is not answered': async (world) => {
      const simba = world.client()
      simba.group('g', { partitions: 4 }).runWhileLeader(() => {})
      await world.time.settle()
      world.fault({ kind: 'lose-request' })
      return simba
    },
  }
  test.for(Object.entries(situations))('%s', async ([, begin], { world }) => {
    world.mayLeaveSessions = true
    const simba = await begin(world)
    const from = world.time.now()
    const closing = [world.track(simba.close()), world.track(simba.close())]
    await world.time.advance(RENEW)
    for (const { status, at } of closing) {
      expect(status).toBe('fulfilled')
      expect((at ?? Infinity) - from).toBeLessThanOrEqual(RENEW)
    }
    expect(world.timers()).toBe(0)
    expect(simba.snapshot().session.state).toBe('CLOSED')
    const calls = world.calls.length
    await world.time.advance(4 * LEASE)
    expect(world.calls).toHaveLength(calls)
  })
})

test.for<[string, (simba: Simba) => unknown]>([
  ['ready', (simba) => simba.ready()],
  ['election.start', (simba) => simba.election('x').start()],
  ['runWhileLeader', (simba) => simba.election('x').runWhileLeader(() => {})],
  ['terms', (simba) => simba.election('x').terms()[Symbol.asyncIterator]().next()],
  ['holder', (simba) => simba.election('x').holder()],
  ['acquire', (simba) => simba.lock('x').acquire()],
  ['tryAcquire', (simba) => simba.lock('x').tryAcquire()],
  ['withLock', (simba) => simba.lock('x').withLock(() => {})],
  ['group.runWhileLeader', (simba) => simba.group('g', { partitions: 1 }).runWhileLeader(() => {})],
  ['inspect', (simba) => simba.inspect()],
  ['subscribe', (simba) => simba.subscribe(() => {})],
])('%s on a closed client says that it is closed, and what to do', async ([, call], { world }) => {
  const simba = world.client()
  await world.soon(simba.close())
  const error = await world.failure((async () => await call(simba))())
  expect(error).toBeInstanceOf(ClosedError)
  expect(error).toMatchObject({ message: expect.stringContaining('Make a new Simba to go on') })
})

test.for<[string, (simba: Simba) => Promise<unknown>]>([
  ['stop', (simba) => simba.election('x').stop()],
  ['stepDown', (simba) => simba.election('x').stepDown()],
  ['close', (simba) => simba.close()],
])('%s on a closed client is harmless', async ([, call], { world }) => {
  const simba = world.client()
  await world.soon(simba.close())
  await expect(world.soon(call(simba))).resolves.toBeUndefined()
})

test('those who wait for ready() are told that the client was closed', async ({ world }) => {
  world.mayLeaveSessions = true
  world.fault({ kind: 'lose-request' })
  const simba = world.client()
  const waiting = world.track(simba.ready())
  await world.time.settle()
  await world.time.until(simba.close(), { within: RENEW })
  expect(waiting.error).toBeInstanceOf(ClosedError)
})
