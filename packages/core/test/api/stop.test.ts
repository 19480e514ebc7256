/** When a stop settles, and what a signal stops. */
import { getEventListeners } from 'node:events'
import { describe, expect } from 'vitest'
import { recorder } from './recorder.js'
import { LEASE, RENEW, test } from './world.js'

describe('stop', () => {
  test('settles after the last onRevoked, and nothing is heard after it', async ({ world }) => {
    const election = world.client().election('report')
    const lines: string[] = []
    election.start({
      async onElected(term) {
        await world.time.sleep(100)
        lines.push(`elected ${term.token}`)
      },
      async onRevoked(term) {
        await world.time.sleep(100)
        lines.push(`revoked ${term.token}`)
      },
    })
    await world.time.settle()
    const stopped = election.stop().then(() => lines.push('stopped'))
    await world.time.advance(10 * LEASE)
    await stopped

    expect(lines).toEqual(['elected 1', 'revoked 1', 'stopped'])
  })

  test('releases the lease before onRevoked is called', async ({ world }) => {
    const election = world.client().election('report')
    let holder: string | undefined = 'not asked'
    election.start({
      onRevoked: () => {
        holder = world.holderOf('report')
      },
    })
    await world.time.settle()
    await world.soon(election.stop())

    expect(holder).toBeUndefined()
  })

  test('is idempotent, does nothing for what is not started, and may go un-awaited', async ({ world }) => {
    const simba = world.client()
    await world.soon(simba.election('never-started').stop())
    const election = simba.election('report')
    await world.soon(election.stop())
    election.start()
    await world.time.settle()
    void election.stop()
    const again = world.track(Promise.all([election.stop(), simba.election('report').stop()]))
    await world.time.settle()

    expect(again.status).toBe('fulfilled')
    await world.soon(election.stop())
  })

  test('settles although the release is never answered, after one call timeout', async ({ world }) => {
    const election = world.client().election('report')
    const { lines, listener } = recorder(world)
    election.start(listener)
    await world.time.settle()
    world.fault({ on: 'release', kind: 'lose-request', times: 1 })
    const stopped = world.track(election.stop())
    await world.time.advance(2 * RENEW)

    expect(stopped).toMatchObject({ status: 'fulfilled', at: RENEW })
    expect(lines).toEqual(['0 elected 1', `${RENEW} revoked 1 STOPPED valid=false`])
    // The lease itself is found and given back at the next renewal.
    expect(world.holderOf('report')).toBeUndefined()
  })

  test('settles although the release fails, and the lease is gone soon', async ({ world }) => {
    const election = world.client().election('report')
    const { lines, listener } = recorder(world)
    election.start(listener)
    await world.time.settle()
    world.fault({ on: 'release', kind: 'fail-before', times: 1 })
    await world.soon(election.stop())
    expect(lines).toEqual(['0 elected 1', '0 revoked 1 STOPPED valid=false'])

    await world.time.advance(RENEW)
    expect(world.holderOf('report')).toBeUndefined()
  })

  test('before the first session has opened ends everything at once', async ({ world }) => {
    const election = world.client().election('report')
    world.fault({ on: 'openSession', kind: 'delay-reply', ms: 1_000 })
    const { lines, listener } = recorder(world)
    election.start(listener)
    await world.soon(election.stop())
    await world.time.advance(LEASE)

    expect(lines).toEqual([])
    expect(world.callsOf('acquire')).toEqual([])
  })

  test('while the first attempt is in flight gives back what it wins', async ({ world }) => {
    const election = world.client().election('report')
    world.fault({ on: 'acquire', kind: 'delay-reply', ms: 1_000 })
    const { lines, listener } = recorder(world)
    election.start(listener)
    await world.time.advance(500)
    expect(world.holderOf('report')).toBeDefined()
    await world.soon(election.stop())
    await world.time.advance(1_000)

    expect(lines).toEqual([])
    expect(world.holderOf('report')).toBeUndefined()
    expect(world.published('OrphanReleased')).toHaveLength(1)
  })
})

describe('a signal', () => {
  test('stops what it was given to, and leaves no listener behind', async ({ world }) => {
    const election = world.client().election('report')
    const controller = new AbortController()
    const { lines, listener } = recorder(world)
    election.start(listener, { signal: controller.signal })
    await world.time.settle()
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    await world.time.settle()

    expect(lines).toEqual(['0 elected 1', '0 revoked 1 STOPPED valid=false'])
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    election.start({}, { signal: new AbortController().signal })
    await world.soon(election.stop())
    election.start()
  })

  test('that has aborted before makes start throw its reason, and leaves the name free', async ({
    world,
  }) => {
    const election = world.client().election('report')
    const reason = new Error('too late')
    expect(() => election.start({}, { signal: AbortSignal.abort(reason) })).toThrow(reason)

    election.start()
    await world.time.settle()
    expect(election.term).toBeDefined()
  })
})
