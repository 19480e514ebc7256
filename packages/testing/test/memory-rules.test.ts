import { describe, expect, it } from 'vitest'
import { MemoryLeaseBackend, VirtualTime } from '../src/index.js'
import { call, leaseMs, opened, world } from './calls.js'

const held = expect.objectContaining({ kind: 'held' })

describe('the memory backend keeps the rules of every backend', () => {
  it('B1: a session that is not renewed within its lease duration expires, one that is does not', async () => {
    using w = world()
    const [renewed, idle] = [await opened(w.backend), await opened(w.backend)]
    await w.time.advance(leaseMs - 1)
    expect(await w.backend.keepAlive(renewed, call())).toEqual({
      kind: 'renewed',
      remainingMs: leaseMs,
      owned: [],
    })
    await w.time.advance(1)
    expect(await w.backend.keepAlive(idle, call())).toEqual({ kind: 'expired' })
    await w.time.advance(leaseMs - 2)
    expect(await w.backend.keepAlive(renewed, call())).toMatchObject({ kind: 'renewed' })
    await w.time.advance(leaseMs)
    expect(await w.backend.keepAlive(renewed, call())).toEqual({ kind: 'expired' })
  })

  it('B2: an expired or closed session is never revived', async () => {
    using w = world()
    const [expired, closed, ended] = [
      await opened(w.backend),
      await opened(w.backend),
      await opened(w.backend),
    ]
    await w.backend.closeSession(closed, call())
    expect(w.backend.expireSession(ended.id)).toBe(true)
    expect(w.backend.expireSession(ended.id)).toBe(false)
    await w.time.advance(leaseMs)
    for (const session of [expired, closed, ended]) {
      for (let attempt = 0; attempt < 2; attempt++) {
        expect(await w.backend.acquire(session, 'a', call())).toEqual({ kind: 'expired' })
        expect(await w.backend.join(session, 'g', call())).toEqual({ kind: 'expired' })
        expect(await w.backend.keepAlive(session, call())).toEqual({ kind: 'expired' })
      }
    }
    expect(w.backend.contents()).toEqual({ sessions: [], leases: [], groups: [] })
  })

  it('B3: a lease belongs to its session only while that lives, and is listed by its renewals', async () => {
    using w = world()
    const [first, second] = [await opened(w.backend), await opened(w.backend)]
    expect(await w.backend.acquire(first, 'a', call())).toEqual({ kind: 'granted', token: 1n })
    expect(await w.backend.acquire(second, 'a', call())).toEqual({ kind: 'held', holder: first.id })
    expect(await w.backend.acquire(second, 'b', call())).toEqual({ kind: 'granted', token: 2n })
    await w.time.advance(leaseMs - 1)
    expect(await w.backend.keepAlive(second, call())).toMatchObject({ owned: [{ name: 'b', token: 2n }] })
    expect(await w.backend.acquire(second, 'a', call())).toEqual(held)
    await w.time.advance(1)
    expect(await w.backend.acquire(second, 'a', call())).toEqual({ kind: 'granted', token: 3n })
    expect(await w.backend.keepAlive(second, call())).toMatchObject({
      owned: [
        { name: 'b', token: 2n },
        { name: 'a', token: 3n },
      ],
    })
  })

  it('B4: tokens are above zero and rise strictly with each term, also across restarts and lost data', async () => {
    using w = world()
    let last = 0n
    const end = [
      (token: bigint) => w.backend.release(session, 'a', token, call()),
      () => w.backend.closeSession(session, call()),
      () => w.time.advance(leaseMs),
      async () => w.backend.restart(),
      async () => w.backend.loseData(),
    ]
    let session = await opened(w.backend)
    for (const endTerm of [...end, ...end]) {
      session = await opened(w.backend)
      const reply = await w.backend.acquire(session, 'a', call())
      const token = reply.kind === 'granted' ? reply.token : expect.unreachable(reply.kind)
      expect(token).toBeGreaterThan(last)
      last = token
      await endTerm(token)
      w.backend.expireSession(session.id)
    }
  })

  it('B5: a release frees the lease only if session and token both match', async () => {
    using w = world()
    const [owner, other] = [await opened(w.backend), await opened(w.backend)]
    await w.backend.acquire(owner, 'a', call())
    await w.backend.release(other, 'a', 1n, call())
    await w.backend.release(owner, 'a', 2n, call())
    await w.backend.release(owner, 'b', 1n, call())
    expect(await w.backend.acquire(other, 'a', call())).toEqual(held)
    await w.backend.release(owner, 'a', 1n, call())
    expect(await w.backend.acquire(other, 'a', call())).toEqual({ kind: 'granted', token: 2n })
    await w.backend.release(owner, 'a', 1n, call())
    expect(await w.backend.keepAlive(owner, call())).toMatchObject({ owned: [] })
    expect(await w.backend.keepAlive(other, call())).toMatchObject({ owned: [{ name: 'a', token: 2n }] })
  })

  it('B6: a member belongs to its group only while its session lives', async () => {
    using w = world()
    const [first, second, third] = [await opened(w.backend), await opened(w.backend), await opened(w.backend)]
    for (const session of [first, second, third, third]) {
      expect(await w.backend.join(session, 'g', call())).toEqual({ kind: 'joined' })
    }
    expect(await w.backend.members('g', call())).toEqual([first.id, second.id, third.id])
    expect(await w.backend.members('other', call())).toEqual([])
    await w.time.advance(leaseMs / 2)
    await w.backend.keepAlive(second, call())
    await w.backend.leave(third, 'g', call())
    await w.backend.leave(third, 'g', call())
    await w.time.advance(leaseMs / 2)
    expect(await w.backend.members('g', call())).toEqual([second.id])
    await w.backend.closeSession(second, call())
    await w.backend.closeSession(second, call())
    expect(await w.backend.members('g', call())).toEqual([])
  })

  it('B7: an acquire by the owner is granted again with the same token', async () => {
    using w = world()
    const session = await opened(w.backend)
    expect(await w.backend.acquire(session, 'a', call())).toEqual({ kind: 'granted', token: 1n })
    expect(await w.backend.acquire(session, 'a', call())).toEqual({ kind: 'granted', token: 1n })
    expect(await w.backend.acquire(session, 'b', call())).toEqual({ kind: 'granted', token: 2n })
  })
})

describe('the memory backend', () => {
  it('decides expiry by its own clock, which may drift', async () => {
    using time = new VirtualTime()
    const backend = new MemoryLeaseBackend({ clock: time.clock({ rate: 2 }) })
    const session = await opened(backend)
    await time.advance(leaseMs / 2 - 1)
    expect(backend.contents().sessions).toEqual([{ id: session.id, remainingMs: 2, metadata: '{}' }])
    await time.advance(1)
    expect(await backend.keepAlive(session, call())).toEqual({ kind: 'expired' })
  })

  it('gives sessions ids of 128 random bits as 32 lowercase hex digits, repeatable with given randomness', async () => {
    using w = world()
    const ids = new Set<string>()
    for (let i = 0; i < 100; i++) ids.add((await opened(w.backend)).id)
    expect(ids.size).toBe(100)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    const words = [0, 1 / 2, 15 / 2 ** 32, 1 - 2 ** -32]
    const seeded = new MemoryLeaseBackend({ clock: w.time, random: () => words.shift() ?? 0 })
    expect((await opened(seeded)).id).toBe('00000000800000000000000fffffffff')
  })

  it('is shared by its clients, and stays as it is when one of them closes it', async () => {
    using w = world()
    const [one, other] = [w.backend.connect('one'), w.backend.connect('other')]
    const session = await opened(one)
    await one.acquire(session, 'a', call())
    await one.close()
    await one.close()
    await w.backend.close()
    expect(await other.acquire(await opened(other), 'a', call())).toEqual({
      kind: 'held',
      holder: session.id,
    })
  })

  it('shows operators what it holds, in whole or of one lease, without what has expired', async () => {
    using w = world()
    const gone = await opened(w.backend)
    await w.backend.acquire(gone, 'old', call())
    await w.time.advance(leaseMs - 10)
    const session = await opened(w.backend, '{"service":"billing"}')
    await w.backend.acquire(session, 'a', call())
    await w.backend.acquire(session, 'b', call())
    await w.backend.join(session, 'g', call())
    await w.time.advance(10)
    const sessions = [{ id: session.id, remainingMs: leaseMs - 10, metadata: '{"service":"billing"}' }]
    const a = { name: 'a', holder: session.id, token: 2n }
    expect(await w.backend.inspect({ kind: 'all' }, call())).toEqual({
      sessions,
      leases: [a, { name: 'b', holder: session.id, token: 3n }],
      groups: [{ group: 'g', members: [session.id] }],
    })
    expect(await w.backend.inspect({ kind: 'lease', name: 'a' }, call())).toEqual({
      sessions,
      leases: [a],
      groups: [],
    })
    expect(await w.backend.inspect({ kind: 'lease', name: 'old' }, call())).toEqual({
      sessions: [],
      leases: [],
      groups: [],
    })
  })

  it('takes a call as given up that is aborted before it is made', async () => {
    using w = world()
    const reason = new Error('too late')
    const aborted = { signal: AbortSignal.abort(reason), timeoutMs: 500 }
    await expect(w.backend.openSession({ leaseMs, metadata: '' }, aborted)).rejects.toBe(reason)
    expect(w.backend.contents().sessions).toEqual([])
  })
})
