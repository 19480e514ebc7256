import { isSimbaError } from '@simba/core'
import { describe, expect, it } from 'vitest'
import type { FaultTarget } from '../src/index.js'
import { abortable, call, holderOf, isPending, leaseMs, opened, world } from './calls.js'

const backendError = expect.toSatisfy((error) => isSimbaError(error, 'SIMBA_BACKEND'))

describe('a fault', () => {
  it('delay-request: the call takes effect and is answered later', async () => {
    using w = world()
    const session = await opened(w.backend)
    w.backend.faults.add({ on: 'acquire', kind: 'delay-request', ms: 50 })
    const acquired = w.backend.acquire(session, 'a', call())
    await w.time.advance(49)
    expect(holderOf(w.backend, 'a')).toBeUndefined()
    await w.time.advance(1)
    expect(holderOf(w.backend, 'a')).toBe(session.id)
    expect(await acquired).toEqual({ kind: 'granted', token: 1n })
  })

  it('delay-request: an aborted call rejects at once, and takes effect all the same', async () => {
    using w = world()
    const session = await opened(w.backend)
    const { options, abort } = abortable()
    const reason = new Error('no longer')
    w.backend.faults.add({ on: 'acquire', kind: 'delay-request', ms: 50 })
    const acquired = w.backend.acquire(session, 'a', options)
    abort(reason)
    await expect(acquired).rejects.toBe(reason)
    await w.time.advance(50)
    expect(holderOf(w.backend, 'a')).toBe(session.id)
  })

  it('delay-request with recall: an aborted call never takes effect', async () => {
    using w = world()
    const session = await opened(w.backend)
    const { options, abort } = abortable()
    w.backend.faults.add({ on: 'acquire', kind: 'delay-request', ms: 50, recall: true })
    const acquired = w.backend.acquire(session, 'a', options)
    abort(new Error('no longer'))
    await expect(acquired).rejects.toThrow('no longer')
    await w.time.advance(50)
    expect(holderOf(w.backend, 'a')).toBeUndefined()
  })

  it('delay-reply: the call takes effect at once and is answered later', async () => {
    using w = world()
    const session = await opened(w.backend)
    w.backend.faults.add({ on: 'acquire', kind: 'delay-reply', ms: 50 })
    const acquired = w.backend.acquire(session, 'a', call())
    expect(holderOf(w.backend, 'a')).toBe(session.id)
    await w.time.advance(49)
    expect(await isPending(w.time, acquired)).toBe(true)
    await w.time.advance(1)
    expect(await acquired).toEqual({ kind: 'granted', token: 1n })
  })

  it.each([
    ['lose-request', false],
    ['lose-reply', true],
  ] as const)('%s: the call hangs until its signal aborts; took effect: %s', async (kind, tookEffect) => {
    using w = world()
    const session = await opened(w.backend)
    const { options, abort } = abortable()
    w.backend.faults.add({ on: 'acquire', kind })
    const acquired = w.backend.acquire(session, 'a', options)
    await w.time.advance(leaseMs / 2)
    expect(await isPending(w.time, acquired)).toBe(true)
    abort(new Error('no longer'))
    await expect(acquired).rejects.toThrow('no longer')
    expect(holderOf(w.backend, 'a')).toBe(tookEffect ? session.id : undefined)
  })

  it.each([
    ['fail-before', false],
    ['fail-after', true],
  ] as const)('%s: the call rejects; took effect: %s', async (kind, tookEffect) => {
    using w = world()
    const session = await opened(w.backend)
    w.backend.faults.add({ on: 'acquire', times: 1, kind })
    await expect(w.backend.acquire(session, 'a', call())).rejects.toEqual(backendError)
    expect(holderOf(w.backend, 'a')).toBe(tookEffect ? session.id : undefined)
    const error = new Error('of the driver')
    w.backend.faults.add({ on: 'acquire', kind, error })
    await expect(w.backend.acquire(session, 'a', call())).rejects.toBe(error)
  })

  it('repeat-request: the call takes effect twice, and is answered once', async () => {
    using w = world()
    w.backend.faults.add({ on: 'openSession', kind: 'repeat-request', ms: 10 })
    const session = await opened(w.backend)
    expect(w.backend.contents().sessions).toHaveLength(1)
    await w.time.advance(10)
    expect(w.backend.contents().sessions.map(({ id }) => id)).toHaveLength(2)
    expect(w.backend.contents().sessions[0]?.id).toBe(session.id)
  })

  it('reorders calls: a late release does not end the term that came after it', async () => {
    using w = world()
    const session = await opened(w.backend)
    await w.backend.acquire(session, 'a', call())
    w.backend.faults.add({ on: 'release', times: 1, kind: 'repeat-request', ms: 10 })
    await w.backend.release(session, 'a', 1n, call())
    await w.backend.acquire(session, 'a', call())
    await w.time.advance(10)
    expect(w.backend.contents().leases).toEqual([{ name: 'a', holder: session.id, token: 2n }])
  })
})

describe('faults', () => {
  it('meet only the calls that agree with all that is given, and as often as given', async () => {
    using w = world()
    const [one, other] = [w.backend.connect('one'), w.backend.connect('other')]
    const [mine, theirs] = [await opened(one), await opened(other)]
    const failed = async (backend: typeof one, session: typeof mine, name: string): Promise<boolean> => {
      try {
        await backend.acquire(session, name, call())
        return false
      } catch {
        return true
      }
    }
    const off = w.backend.faults.add({ client: 'one', name: 'a', kind: 'fail-before' })
    expect(await failed(one, mine, 'a')).toBe(true)
    expect(await failed(one, mine, 'b')).toBe(false)
    expect(await failed(other, theirs, 'a')).toBe(false)
    off()
    expect(await failed(one, mine, 'a')).toBe(false)
    w.backend.faults.add({ session: mine.id, on: ['acquire', 'join'], times: 2, kind: 'fail-before' })
    expect(await failed(one, theirs, 'a')).toBe(false)
    expect(await failed(one, mine, 'a')).toBe(true)
    await one.keepAlive(mine, call())
    await expect(one.join(mine, 'g', call())).rejects.toEqual(backendError)
    expect(await failed(one, mine, 'a')).toBe(false)
    w.backend.faults.add({ kind: 'fail-before' })
    expect(await failed(other, theirs, 'a')).toBe(true)
    w.backend.faults.clear()
    expect(await failed(other, theirs, 'a')).toBe(false)
  })

  it('add up where several meet one call', async () => {
    using w = world()
    const session = await opened(w.backend)
    w.backend.faults.add({ on: 'acquire', kind: 'delay-request', ms: 10 })
    w.backend.faults.add({ on: 'acquire', kind: 'delay-request', ms: 20 })
    w.backend.faults.add({ on: 'acquire', kind: 'delay-reply', ms: 40 })
    w.backend.faults.add({ on: 'acquire', kind: 'fail-after' })
    const acquired = w.backend.acquire(session, 'a', call())
    acquired.catch(() => {})
    await w.time.advance(29)
    expect(holderOf(w.backend, 'a')).toBeUndefined()
    await w.time.advance(1)
    expect(holderOf(w.backend, 'a')).toBe(session.id)
    await w.time.advance(39)
    expect(await isPending(w.time, acquired)).toBe(true)
    await w.time.advance(1)
    await expect(acquired).rejects.toEqual(backendError)
  })

  it('can be decided call by call, which also records calls', async () => {
    using w = world()
    const seen: FaultTarget[] = []
    w.backend.faults.add({
      times: 2,
      decide: (target) => {
        seen.push(target)
        if (target.name !== 'b') return undefined
        return [{ kind: 'delay-request', ms: 5 }, { kind: 'fail-before' }]
      },
    })
    const one = w.backend.connect('one')
    const session = await opened(one)
    await one.acquire(session, 'a', call())
    for (let time = 0; time < 2; time++) {
      const failing = one.acquire(session, 'b', call())
      failing.catch(() => {})
      await w.time.advance(5)
      await expect(failing).rejects.toEqual(backendError)
    }
    await one.acquire(session, 'b', call())
    expect(seen).toEqual([
      { on: 'openSession', client: 'one' },
      { on: 'acquire', client: 'one', session: session.id, name: 'a' },
      { on: 'acquire', client: 'one', session: session.id, name: 'b' },
      { on: 'acquire', client: 'one', session: session.id, name: 'b' },
    ])
  })

  it('refuse a delay or a number of times that cannot be', () => {
    using w = world()
    expect(() => w.backend.faults.add({ kind: 'delay-reply', ms: -1 })).toThrow(/delay-reply: ms is -1/)
    expect(() => w.backend.faults.add({ kind: 'delay-reply', ms: Number.NaN })).toThrow(/ms is NaN/)
    expect(() => w.backend.faults.add({ kind: 'fail-after', times: 0 })).toThrow(/times is 0/)
  })
})
