import { isSimbaError } from '@simba/core'
import { describe, expect, it } from 'vitest'
import { abortable, call, holderOf, isPending, leaseMs, opened, world } from './calls.js'

const backendError = expect.toSatisfy((error) => isSimbaError(error, 'SIMBA_BACKEND'))

describe('a frozen backend', () => {
  it('lets calls wait, and carries them out in order when it thaws, also those that were given up', async () => {
    using w = world()
    const [first, second] = [await opened(w.backend), await opened(w.backend)]
    const { options, abort } = abortable()
    w.backend.freeze()
    const givenUp = w.backend.acquire(first, 'a', options)
    const waits = w.backend.acquire(second, 'a', call())
    w.backend.freeze()
    abort(new Error('no longer'))
    await expect(givenUp).rejects.toThrow('no longer')
    await w.time.advance(leaseMs / 2)
    expect(await isPending(w.time, waits)).toBe(true)
    expect(holderOf(w.backend, 'a')).toBeUndefined()
    w.backend.thaw()
    w.backend.thaw()
    expect(holderOf(w.backend, 'a')).toBe(first.id)
    expect(await waits).toEqual({ kind: 'held', holder: first.id })
  })

  it('has sessions expire meanwhile, since its clock goes on', async () => {
    using w = world()
    const session = await opened(w.backend)
    w.backend.freeze()
    const renewed = w.backend.keepAlive(session, call())
    await w.time.advance(leaseMs)
    w.backend.thaw()
    expect(await renewed).toEqual({ kind: 'expired' })
  })

  it('takes requests that were delayed into the freeze when it thaws', async () => {
    using w = world()
    const session = await opened(w.backend)
    w.backend.faults.add({ on: 'acquire', kind: 'delay-request', ms: 10 })
    const acquired = w.backend.acquire(session, 'a', call())
    w.backend.freeze()
    await w.time.advance(20)
    expect(holderOf(w.backend, 'a')).toBeUndefined()
    w.backend.thaw()
    expect(await acquired).toEqual({ kind: 'granted', token: 1n })
  })
})

describe('a restart', () => {
  it('keeps the data, and fails all calls on their way, whose requests never arrive', async () => {
    using w = world()
    const session = await opened(w.backend)
    await w.backend.acquire(session, 'kept', call())
    w.backend.faults.add({ name: 'request', kind: 'delay-request', ms: 10 })
    w.backend.faults.add({ name: 'reply', kind: 'delay-reply', ms: 10 })
    w.backend.faults.add({ name: 'lost', kind: 'lose-reply' })
    w.backend.faults.add({ name: 'repeated', kind: 'repeat-request', ms: 10 })
    await w.backend.acquire(session, 'repeated', call())
    await w.backend.release(session, 'repeated', 2n, call())
    const names = ['request', 'reply', 'lost', 'frozen']
    const calls = names.map((name) => {
      if (name === 'frozen') w.backend.freeze()
      return w.backend.acquire(session, name, call())
    })
    w.backend.restart()
    for (const inFlight of calls) await expect(inFlight).rejects.toEqual(backendError)
    await w.time.advance(20)
    w.backend.thaw()
    expect(w.backend.contents().leases.map(({ name }) => name)).toEqual(['kept', 'reply', 'lost'])
    expect(await w.backend.acquire(session, 'a', call())).toMatchObject({ kind: 'granted' })
  })
})

describe('lost data', () => {
  it('leaves no session, lease or group, and the tokens rising', async () => {
    using w = world()
    const session = await opened(w.backend)
    await w.backend.acquire(session, 'a', call())
    await w.backend.join(session, 'g', call())
    w.backend.loseData()
    expect(w.backend.contents()).toEqual({ sessions: [], leases: [], groups: [] })
    expect(await w.backend.keepAlive(session, call())).toEqual({ kind: 'expired' })
    const next = await opened(w.backend)
    expect(await w.backend.acquire(next, 'a', call())).toEqual({ kind: 'granted', token: 2n })
  })

  it('gives tokens a second time if they are to be reset, which breaks B4 on purpose', async () => {
    using w = world()
    await w.backend.acquire(await opened(w.backend), 'a', call())
    w.backend.loseData({ resetTokens: true })
    expect(await w.backend.acquire(await opened(w.backend), 'a', call())).toMatchObject({ token: 1n })
  })

  it('can go back to an earlier state, as a failover to a replica that lags does', async () => {
    using w = world()
    const [first, second] = [await opened(w.backend), await opened(w.backend)]
    await w.backend.acquire(first, 'a', call())
    await w.backend.join(first, 'g', call())
    const before = w.backend.contents()
    const goBack = w.backend.checkpoint()
    for (let round = 0; round < 2; round++) {
      await w.backend.release(first, 'a', 1n, call())
      await w.backend.leave(first, 'g', call())
      expect(await w.backend.acquire(second, 'a', call())).toEqual({ kind: 'granted', token: 2n })
      await opened(w.backend)
      goBack()
      expect(w.backend.contents()).toEqual(before)
      expect(await w.backend.keepAlive(first, call())).toMatchObject({ owned: [{ name: 'a', token: 1n }] })
      expect(await w.backend.members('g', call())).toEqual([first.id])
    }
  })
})
