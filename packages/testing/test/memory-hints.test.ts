import type { Hint } from '@simba/core'
import { describe, expect, it } from 'vitest'
import { call, leaseMs, opened, world } from './calls.js'

describe('hints', () => {
  it('tell of releases, closed sessions and changed groups, to those who watch', async () => {
    using w = world()
    const heard: Hint[] = []
    const hints = w.backend.hints((hint) => heard.push(hint))
    hints.watch({ kind: 'lease', name: 'a' })
    hints.watch({ kind: 'lease', name: 'a' })
    hints.watch({ kind: 'group', group: 'g' })
    const session = await opened(w.backend)
    for (const name of ['a', 'unwatched']) await w.backend.acquire(session, name, call())
    await w.backend.release(session, 'a', 99n, call())
    await w.time.settle()
    expect(heard).toEqual([])
    await w.backend.release(session, 'a', 1n, call())
    await w.backend.release(session, 'unwatched', 2n, call())
    await w.backend.join(session, 'g', call())
    await w.backend.join(session, 'g', call())
    await w.backend.leave(session, 'g', call())
    await w.backend.leave(session, 'g', call())
    await w.time.settle()
    const members: Hint = { kind: 'members', group: 'g' }
    expect(heard).toEqual([{ kind: 'released', name: 'a' }, members, members])
    heard.length = 0
    await w.backend.acquire(session, 'a', call())
    await w.backend.join(session, 'g', call())
    await w.backend.closeSession(session, call())
    await w.time.settle()
    expect(heard).toEqual([members, { kind: 'released', name: 'a' }, members])
  })

  it('never come within the call that causes them, and not after unwatch or close', async () => {
    using w = world()
    const heard: string[] = []
    const listen = (who: string) => {
      const hints = w.backend.hints(() => heard.push(who))
      hints.watch({ kind: 'lease', name: 'a' })
      return hints
    }
    const [stays, unwatches, closes] = [listen('stays'), listen('unwatches'), listen('closes')]
    const session = await opened(w.backend)
    await w.backend.acquire(session, 'a', call())
    const released = w.backend.release(session, 'a', 1n, call())
    expect(heard).toEqual([])
    unwatches.unwatch({ kind: 'lease', name: 'a' })
    unwatches.unwatch({ kind: 'lease', name: 'a' })
    await closes.close()
    await closes.close()
    closes.watch({ kind: 'lease', name: 'a' })
    await released
    await w.backend.acquire(session, 'a', call())
    await w.backend.release(session, 'a', 2n, call())
    await w.time.settle()
    expect(heard).toEqual(['stays', 'stays'])
    await stays.close()
  })

  it('are silent about sessions that expire, as those of most servers', async () => {
    using w = world()
    const heard: Hint[] = []
    w.backend.hints((hint) => heard.push(hint)).watch({ kind: 'lease', name: 'a' })
    const session = await opened(w.backend)
    await w.backend.acquire(session, 'a', call())
    await w.time.advance(leaseMs)
    expect(await w.backend.keepAlive(session, call())).toEqual({ kind: 'expired' })
    await w.time.settle()
    expect(heard).toEqual([])
  })

  it('can be late, repeated and lost, and are lost by a restart', async () => {
    using w = world()
    const heard: string[] = []
    const listen = (client: string) => {
      const hints = w.backend.connect(client).hints(() => heard.push(`${client} at ${w.time.now()}`))
      hints.watch({ kind: 'lease', name: 'a' })
    }
    for (const client of ['deaf', 'slow', 'stutters', 'well']) listen(client)
    w.backend.faults.add({ on: 'hint', client: 'deaf', kind: 'lose-request' })
    w.backend.faults.add({ on: 'hint', client: 'slow', kind: 'delay-request', ms: 20 })
    w.backend.faults.add({ on: 'hint', client: 'stutters', kind: 'repeat-request', ms: 10 })
    const session = await opened(w.backend)
    const term = async () => {
      const reply = await w.backend.acquire(session, 'a', call())
      if (reply.kind === 'granted') await w.backend.release(session, 'a', reply.token, call())
    }
    await term()
    await w.time.advance(30)
    expect(heard).toEqual(['stutters at 0', 'well at 0', 'stutters at 10', 'slow at 20'])
    heard.length = 0
    await term()
    await w.time.settle()
    w.backend.restart()
    await w.time.advance(30)
    expect(heard).toEqual(['stutters at 30', 'well at 30'])
  })
})
