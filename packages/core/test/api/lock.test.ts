/** A lock as one caller sees it: acquired, held, lost, given back. */
import { getEventListeners } from 'node:events'
import { isSimbaError, LockTimeoutError, type Simba, TermRevokedError } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID } from './world.js'

describe('acquire', () => {
  test('a free lock is granted at once, with a valid term that others respect', async ({ world }) => {
    const held = await world.soon(world.client('a').lock('order.42').acquire())
    expect(held).toMatchObject({ name: 'order.42', token: 1n, isValid: true })
    expect(held.remaining()).toBe(VALID)
    expect(await world.soon(world.client('b').lock('order.42').tryAcquire())).toBeUndefined()
    await world.soon(held.release())
    expect(held.isValid).toBe(false)
    expect(await held.revoked).toBe('STOPPED')
  })

  test('a lock that another client holds is granted once it is given back, with a larger token', async ({
    world,
  }) => {
    const first = await world.soon(world.client('a').lock('x').acquire())
    const waiting = world.track(world.client('b').lock('x').acquire())
    await world.time.advance(2 * LEASE)
    expect(waiting.status).toBe('pending')
    await world.soon(first.release())
    await world.time.settle()
    expect(waiting.value).toMatchObject({ token: 2n, isValid: true })
  })

  test('times out, and says who holds it', async ({ world }) => {
    const a = world.client('a')
    await world.soon(a.lock('x').acquire())
    const error = await world.failure(world.client('b').lock('x').acquire({ timeout: '2s' }), 2_000)
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({
      code: 'SIMBA_LOCK_TIMEOUT',
      message: expect.stringContaining(`within 2000 ms: held by session ${a.snapshot().session.id}`),
    })
    expect(error).not.toHaveProperty('cause')
    expect(world.time.now()).toBe(2_000)
  })

  test('times out, and says that the backend cannot be reached, with its last error', async ({ world }) => {
    world.fault({ on: 'acquire', kind: 'fail-before', error: new Error('no route to host') })
    const error = await world.failure(world.client().lock('x').acquire({ timeout: '6s' }), 6_000)
    expect(error).toMatchObject({
      code: 'SIMBA_LOCK_TIMEOUT',
      message: expect.stringContaining(
        'the backend cannot be reached. memory: acquire "x" failed: no route to host',
      ),
      cause: expect.objectContaining({ code: 'SIMBA_BACKEND' }),
    })
  })

  test('times out, and says that the backend has not answered, when no session could be opened in time', async ({
    world,
  }) => {
    world.mayLeaveSessions = true
    world.fault({ kind: 'lose-reply' })
    const error = await world.failure(world.client().lock('x').acquire({ timeout: '3s' }), 3_000)
    expect(error).toMatchObject({ message: expect.stringContaining('the backend has not answered yet') })
  })

  test('a timeout of 0 waits for nothing', async ({ world }) => {
    await world.soon(world.client('a').lock('x').acquire())
    const b = world.client('b')
    await world.soon(b.ready())
    expect(await world.failure(b.lock('x').acquire({ timeout: 0 }))).toBeInstanceOf(LockTimeoutError)
  })

  test('whose signal aborts rejects with its reason, and leaves no listener', async ({ world }) => {
    const held = await world.soon(world.client('a').lock('x').acquire())
    const controller = new AbortController()
    const waiting = world.track(world.client('b').lock('x').acquire({ signal: controller.signal }))
    await world.time.settle()
    const reason = new Error('the request was closed')
    controller.abort(reason)
    await world.time.settle()
    expect(waiting.error).toBe(reason)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    await world.soon(held.release())
    await world.time.advance(LEASE)
    expect(world.holderOf('x')).toBeUndefined()
  })

  test('whose signal has aborted before rejects with its reason, and calls nobody', async ({ world }) => {
    const reason = new Error('too late')
    expect(
      await world.failure(
        world
          .client()
          .lock('x')
          .acquire({ signal: AbortSignal.abort(reason) }),
      ),
    ).toBe(reason)
    expect(world.calls).toEqual([])
  })

  test('whose grant comes after it was given up gives the lock back', async ({ world }) => {
    const simba = world.client('a')
    await world.soon(simba.ready())
    world.fault({ on: 'acquire', kind: 'delay-reply', ms: 500, times: 1 })
    await world.failure(simba.lock('x').acquire({ timeout: 100 }), 100)
    expect(world.holderOf('x')).toBeDefined()
    await world.time.advance(500)
    expect(world.holderOf('x')).toBeUndefined()
    expect(await world.soon(simba.lock('x').acquire())).toMatchObject({ token: 2n })
  })

  test('that timed out and took effect later is found and given back', async ({ world }) => {
    const simba = world.client('a')
    await world.soon(simba.ready())
    world.fault({ on: 'acquire', kind: 'delay-request', ms: RENEW + 500, times: 1 })
    world.fault({ on: 'acquire', kind: 'lose-reply', times: 1 })
    await world.failure(simba.lock('x').acquire({ timeout: RENEW }), RENEW)
    await world.time.advance(600)
    expect(world.holderOf('x')).toBe(simba.snapshot().session.id)
    await world.time.advance(RENEW)
    expect(world.holderOf('x')).toBeUndefined()
    expect(world.published('OrphanReleased')).toEqual([{ type: 'OrphanReleased', name: 'x', token: 1n }])
  })
})

describe('tryAcquire', () => {
  test('attempts once: undefined means that another holds it', async ({ world }) => {
    await world.soon(world.client('a').lock('x').acquire())
    expect(await world.soon(world.client('b').lock('x').tryAcquire())).toBeUndefined()
    expect(world.callsOf('acquire', 'b')).toHaveLength(1)
    await world.time.advance(LEASE)
    expect(world.callsOf('acquire', 'b')).toHaveLength(1)
  })

  test('is refused at once while this client holds the lock or waits for it', async ({ world }) => {
    const simba = world.client('a')
    await world.soon(simba.lock('x').acquire())
    const before = world.callsOf('acquire').length
    expect(await world.soon(simba.lock('x').tryAcquire())).toBeUndefined()
    expect(world.callsOf('acquire')).toHaveLength(before)
  })

  test.for(['fail-before', 'lose-request'] as const)(
    'a backend that is away (%s) is an error, not undefined',
    async (kind, { world }) => {
      const simba = world.client('a')
      await world.soon(simba.ready())
      world.fault({ on: 'acquire', kind })
      const error = await world.failure(simba.lock('x').tryAcquire(), RENEW)
      expect(isSimbaError(error, 'SIMBA_BACKEND')).toBe(true)
    },
  )

  test('a backend that opens no session is an error within one call', async ({ world }) => {
    world.fault({ on: 'openSession', kind: 'fail-before' })
    const error = await world.failure(world.client().lock('x').tryAcquire(), RENEW)
    expect(isSimbaError(error, 'SIMBA_BACKEND')).toBe(true)
  })
})

describe('a held lock', () => {
  test('stays the same valid object over many renewals', async ({ world }) => {
    const held = await world.soon(world.client().lock('x').acquire())
    for (let renewal = 0; renewal < 20; renewal += 1) {
      await world.time.advance(RENEW)
      expect(held.isValid).toBe(true)
      expect(held.remaining()).toBeGreaterThan(VALID - RENEW - 1)
    }
    expect(held.token).toBe(1n)
  })

  test('that is lost ends at the deadline, before another gets it, and release() is harmless then', async ({
    world,
  }) => {
    const held = await world.soon(world.client('a').lock('x').acquire())
    const next = world.track(world.client('b').lock('x').acquire())
    await world.time.settle()
    world.fault({ client: 'a', kind: 'lose-request' })
    await world.time.advance(VALID)
    expect(held.isValid).toBe(false)
    expect(held.signal.reason).toMatchObject({ code: 'SIMBA_TERM_REVOKED', reason: 'DEADLINE_PASSED' })
    expect(next.status).toBe('pending')
    await world.soon(held.release())
    await world.time.advance(LEASE)
    expect(next.value).toMatchObject({ token: 2n, isValid: true })
    world.heal()
  })

  test('release() is idempotent, gives back once, and never rejects', async ({ world }) => {
    const held = await world.soon(world.client().lock('x').acquire())
    world.fault({ on: 'release', kind: 'fail-before', times: 1 })
    await world.soon(Promise.all([held.release(), held.release()]))
    await world.soon(held.release())
    expect(world.callsOf('release')).toHaveLength(1)
    await world.time.advance(RENEW)
    expect(world.holderOf('x')).toBeUndefined()
  })

  test('is given back at the end of an `await using` block, also by an error', async ({ world }) => {
    const simba = world.client()
    const use = async () => {
      await using held = await simba.lock('x').acquire()
      expect(world.holderOf('x')).toBeDefined()
      throw new Error(`with token ${held.token}`)
    }
    expect(await world.failure(use())).toMatchObject({ message: 'with token 1' })
    expect(world.holderOf('x')).toBeUndefined()
  })
})

describe('withLock', () => {
  test('gives its function the term, and its result once the lock is given back', async ({ world }) => {
    const result = await world.soon(
      world
        .client()
        .lock('x')
        .withLock(async (term) => {
          expect(world.holderOf('x')).toBeDefined()
          return `done with ${term.token}`
        }),
    )
    expect(result).toBe('done with 1')
    expect(world.holderOf('x')).toBeUndefined()
  })

  test('rejects with what its function threw, once the lock is given back', async ({ world }) => {
    const failure = new Error('out of paper')
    expect(
      await world.failure(
        world
          .client()
          .lock('x')
          .withLock(() => {
            throw failure
          }),
      ),
    ).toBe(failure)
    expect(world.holderOf('x')).toBeUndefined()
  })

  test('whose term ended before its function rejects, with the result', async ({ world }) => {
    const working = world
      .client('a')
      .lock('x')
      .withLock(async (term) => {
        await term.revoked
        return 'written, perhaps too late'
      })
    await world.time.settle()
    world.fault({ client: 'a', kind: 'lose-request' })
    const error = await world.failure(working, VALID)
    expect(error).toBeInstanceOf(TermRevokedError)
    expect(error).toMatchObject({ reason: 'DEADLINE_PASSED', result: 'written, perhaps too late' })
    world.heal()
  })

  test('whose term ended before its function failed rejects with the own error of the function', async ({
    world,
  }) => {
    const failure = new Error('connection reset')
    const working = world
      .client('a')
      .lock('x')
      .withLock(async (term) => {
        await term.revoked
        throw failure
      })
    await world.time.settle()
    world.fault({ client: 'a', kind: 'lose-request' })
    expect(await world.failure(working, VALID)).toBe(failure)
    world.heal()
  })

  test('leaves at once when its term is lost: it does not try to release what it has not', async ({
    world,
  }) => {
    const working = world
      .client('a')
      .lock('x')
      .withLock((term) => term.revoked)
    await world.time.settle()
    world.fault({ client: 'a', kind: 'lose-request' })
    await world.time.advance(VALID - 1)
    const before = world.callsOf('release').length
    await world.failure(working, 1)
    expect(world.callsOf('release').length - before).toBeLessThanOrEqual(1)
    world.heal()
  })

  test('waits for its function in any case, and the lease no longer than the deadline', async ({ world }) => {
    const simba = world.client('a')
    const working = world.track(simba.lock('x').withLock(() => world.time.sleep(1.5 * LEASE)))
    await world.time.settle()
    const closing = world.track(simba.close())
    await world.time.advance(VALID)
    expect(closing.status).toBe('fulfilled')
    expect(world.holderOf('x')).toBeUndefined()
    expect(working.status).toBe('pending')
    await world.time.advance(LEASE + 100)
    expect(working.error).toBeInstanceOf(TermRevokedError)
  })
})

test('one signal for 100,000 acquires leaves no listener behind', { timeout: 60_000 }, async ({ world }) => {
  const simba: Simba = world.client()
  const { signal } = new AbortController()
  for (let round = 0; round < 1_000; round += 1) {
    const wanted = Array.from({ length: 100 }, (_, index) => simba.lock(`x${index}`).acquire({ signal }))
    const held = await world.soon(Promise.all(wanted))
    await world.soon(Promise.all(held.map((term) => term.release())))
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  expect(simba.snapshot().locks).toEqual([])
})
