import type { Term } from '@simba/core'
import { describe, expect } from 'vitest'
import { recorder } from './recorder.js'
import { LEASE, RENEW, test } from './world.js'

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
