/** Elections with callbacks: who leads, when callbacks run, and when promises settle. */
import { getEventListeners } from 'node:events'
import type { RevokeReason, Term } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

/** Writes down what a listener hears, with the virtual time. */
function recorder(world: World, lines: string[] = []) {
  const at = () => Math.round(world.time.now())
  const listener = {
    onElected: (term: Term) => void lines.push(`${at()} elected ${term.token}`),
    onRevoked: (term: Term, reason: RevokeReason) =>
      void lines.push(`${at()} revoked ${term.token} ${reason} valid=${term.isValid}`),
  }
  return { lines, listener }
}

describe('leading', () => {
  test('the only candidate leads at once, with a valid term that the handle shows', async ({ world }) => {
    const election = world.client().election('report')
    const { lines, listener } = recorder(world)

    expect(election.term).toBeUndefined()
    election.start(listener)
    await world.time.settle()

    expect(lines).toEqual(['0 elected 1'])
    expect(election.term).toMatchObject({ name: 'report', token: 1n, isValid: true })
    expect(election.name).toBe('report')
  })

  test('two handles of one name are the same election', async ({ world }) => {
    const simba = world.client()
    simba.election('report').start()
    await world.time.settle()

    expect(simba.election('report').term).toBe(simba.election('report').term)
    await world.soon(simba.election('report').stop())
    expect(simba.election('report').term).toBeUndefined()
  })

  test('of several nodes one leads; the others follow, and one takes over at once when it stops', async ({
    world,
  }) => {
    const elections = ['a', 'b', 'c'].map((id) => world.client(id).election('report'))
    for (const election of elections) election.start()
    await world.time.advance(LEASE)
    const [leader, ...others] = elections.filter(({ term }) => term !== undefined)
    expect(others).toEqual([])

    await world.soon(leader?.stop() ?? Promise.reject())
    await world.time.settle()

    const next = elections.filter(({ term }) => term !== undefined)
    expect(next).toHaveLength(1)
    expect(next[0]).not.toBe(leader)
    expect(next[0]?.term?.token).toBe(2n)
  })

  test('a leader that is cut off has ended its term before another one begins', async ({ world }) => {
    const a = world.client('a').election('report')
    const b = world.client('b').election('report')
    const lines: string[] = []
    a.start(recorder(world, lines).listener)
    await world.time.settle()
    b.start(recorder(world, lines).listener)
    const term = a.term
    world.fault({ client: 'a', kind: 'lose-request' })

    await world.time.advance(VALID - 1)
    expect(term?.isValid).toBe(true)
    await world.time.advance(1)
    expect(term?.isValid).toBe(false)
    expect(lines).toEqual(['0 elected 1', `${VALID} revoked 1 DEADLINE_PASSED valid=false`])
    expect(b.term).toBeUndefined()

    await world.time.advance(LEASE)
    expect(b.term?.token).toBe(2n)
    world.heal()
  })

  test('a node that lost competes again by itself, and leads when the other stops', async ({ world }) => {
    const a = world.client('a').election('report')
    const b = world.client('b').election('report')
    a.start()
    await world.time.settle()
    b.start()
    world.fault({ client: 'a', kind: 'fail-before' })
    await world.time.advance(2 * LEASE)
    expect(b.term?.isValid).toBe(true)
    world.heal()
    await world.time.advance(RENEW)

    await world.soon(b.stop())
    await world.time.settle()

    expect(a.term).toMatchObject({ token: 3n, isValid: true })
  })

  test('the holder is told to whoever asks, candidate or not', async ({ world }) => {
    const a = world.client('a', { metadata: { host: 'alpha' } })
    const b = world.client('b')
    expect(await world.soon(b.election('report').holder())).toBeUndefined()
    a.election('report').start()
    await world.time.settle()

    const session = a.snapshot().session.id
    expect(await world.soon(b.election('report').holder())).toEqual({
      session,
      token: 1n,
      metadata: { host: 'alpha' },
    })
    expect(b.snapshot().elections).toEqual([])
  })
})

describe('callbacks', () => {
  test('each onElected is followed by one onRevoked for the same term, with its reason', async ({
    world,
  }) => {
    const election = world.client().election('report')
    const { lines, listener } = recorder(world)
    election.start(listener)
    await world.time.settle()
    await world.soon(election.stepDown('1s'))
    await world.time.advance(1_000)
    world.backend.expireSession(world.published('SessionOpened')[0]?.session ?? '')
    await world.time.advance(RENEW)
    await world.soon(election.stop())

    expect(lines).toEqual([
      '0 elected 1',
      '0 revoked 1 STEPPED_DOWN valid=false',
      '1000 elected 2',
      '5000 revoked 2 SESSION_EXPIRED valid=false',
      '5000 elected 3',
      '6000 revoked 3 STOPPED valid=false',
    ])
  })

  test('a callback that is async is waited for before the next one', async ({ world }) => {
    const election = world.client().election('report')
    const lines: string[] = []
    const note = (text: string) => lines.push(`${world.time.now()} ${text}`)
    election.start({
      async onElected(term) {
        note(`electing ${term.token}`)
        await world.time.sleep(3_000)
        note(`elected ${term.token}`)
      },
      async onRevoked(term) {
        note(`revoking ${term.token}`)
        await world.time.sleep(2_000)
        note(`revoked ${term.token}`)
      },
    })
    await world.time.settle()
    const steppedDown = world.track(election.stepDown(1_000))
    await world.time.advance(10_000)

    expect(lines).toEqual([
      '0 electing 1',
      '3000 elected 1',
      '3000 revoking 1',
      '5000 revoked 1',
      '5000 electing 2',
      '8000 elected 2',
    ])
    expect(steppedDown).toMatchObject({ status: 'fulfilled', at: 5_000 })
  })

  test('an onElected that comes late finds its term ended, and is still followed by its onRevoked', async ({
    world,
  }) => {
    const election = world.client().election('report')
    const lines: string[] = []
    election.start({
      async onElected(term) {
        lines.push(`elected ${term.token} valid=${term.isValid}`)
        await world.time.sleep(5_000)
      },
      onRevoked: (term, reason) => void lines.push(`revoked ${term.token} ${reason}`),
    })
    await world.time.settle()
    void election.stepDown(100)
    await world.time.advance(1_000)
    void election.stepDown(100)
    await world.time.advance(20_000)

    expect(lines.slice(0, 5)).toEqual([
      'elected 1 valid=true',
      'revoked 1 STEPPED_DOWN',
      'elected 2 valid=false',
      'revoked 2 STEPPED_DOWN',
      'elected 3 valid=true',
    ])
  })

  test('callbacks are not work: a slow one does not delay the release of the lease', async ({ world }) => {
    const election = world.client().election('report')
    election.start({ onElected: () => world.time.sleep(60_000) })
    await world.time.settle()
    const stopped = world.track(election.stop())
    await world.time.settle()

    expect(world.holderOf('report')).toBeUndefined()
    expect(stopped.status).toBe('pending')
    await world.time.advance(60_000)
    expect(stopped).toMatchObject({ status: 'fulfilled', at: 60_000 })
  })

  test.for(['throws', 'rejects'] as const)(
    'a callback that %s is reported, and disturbs nothing',
    async (how, { world }) => {
      const failure = new Error('my own fault')
      const fail = () => {
        if (how === 'throws') throw failure
        return Promise.reject(failure)
      }
      const election = world.client().election('report')
      const heard: string[] = []
      election.start({
        onElected: (term) => {
          heard.push(`elected ${term.token}`)
          return fail()
        },
        onRevoked: (term) => {
          heard.push(`revoked ${term.token}`)
          return fail()
        },
      })
      await world.time.settle()
      expect(election.term?.isValid).toBe(true)
      await world.soon(election.stepDown(0))
      await world.time.settle()
      await world.soon(election.stop())

      expect(heard).toEqual(['elected 1', 'revoked 1', 'elected 2', 'revoked 2'])
      expect(world.published('CallbackFailed')).toEqual([
        { type: 'CallbackFailed', callback: 'onElected', name: 'report', error: failure },
        { type: 'CallbackFailed', callback: 'onRevoked', name: 'report', error: failure },
        { type: 'CallbackFailed', callback: 'onElected', name: 'report', error: failure },
        { type: 'CallbackFailed', callback: 'onRevoked', name: 'report', error: failure },
      ])
    },
  )

  test('a listener may have one callback, or none', async ({ world }) => {
    const simba = world.client()
    const heard: string[] = []
    simba.election('one').start({ onRevoked: () => void heard.push('revoked') })
    simba.election('none').start()
    await world.time.settle()
    await world.soon(Promise.all([simba.election('one').stop(), simba.election('none').stop()]))

    expect(heard).toEqual(['revoked'])
    expect(world.published('CallbackFailed')).toEqual([])
  })

  test('a listener may be an object with state and methods of its own', async ({ world }) => {
    class Leadership {
      readonly heard: string[] = []
      onElected(term: Term): void {
        this.heard.push(`elected ${term.token}`)
      }
      onRevoked(term: Term): void {
        this.heard.push(`revoked ${term.token}`)
      }
    }
    const leadership = new Leadership()
    const election = world.client().election('report')
    election.start(leadership)
    await world.time.settle()
    await world.soon(election.stop())

    expect(leadership.heard).toEqual(['elected 1', 'revoked 1'])
  })

  test('a mere candidate hears nothing, also when it stops', async ({ world }) => {
    world.client('a').election('report').start()
    await world.time.settle()
    const { lines, listener } = recorder(world)
    const election = world.client('b').election('report')
    election.start(listener)
    await world.time.advance(LEASE)
    await world.soon(election.stop())
    await world.time.advance(LEASE)

    expect(lines).toEqual([])
  })
})

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
