/** for await (const term of election.terms()): the loop leads while it runs, and its body is the work. */
import { getEventListeners } from 'node:events'
import { ClosedError, ConfigError, type Term } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

function expire(world: World, id = 'a'): void {
  world.backend.expireSession(world.get(id).snapshot().session.id ?? '')
}

describe('the loop', () => {
  test('gets each term of this node, one after the other', async ({ world }) => {
    const election = world.client().election('report')
    const tokens: bigint[] = []
    const loop = async () => {
      for await (const term of election.terms()) {
        tokens.push(term.token)
        await term.revoked
        if (tokens.length === 3) break
      }
    }
    const looped = loop()
    for (let round = 0; round < 3; round += 1) {
      await world.time.settle()
      expire(world)
      await world.time.advance(LEASE)
    }
    await world.soon(looped)

    expect(tokens).toEqual([1n, 2n, 3n])
    expect(world.holderOf('report')).toBeUndefined()
  })

  test('does nothing before it asks for the first term', async ({ world }) => {
    const simba = world.client()
    const terms = simba.election('report').terms()
    await world.time.advance(LEASE)
    expect(world.calls).toEqual([])
    expect(simba.snapshot().elections).toEqual([])
    expect(terms[Symbol.asyncIterator]()).toBe(terms)
  })

  test.for(['break', 'return', 'throw'] as const)(
    'left by %s gives the lease back before the next statement',
    async (how, { world }) => {
      const election = world.client().election('report')
      const failure = new Error('the body failed')
      const loop = async (): Promise<string> => {
        for await (const _ of election.terms()) {
          await world.time.sleep(100)
          if (how === 'break') break
          if (how === 'return') return 'returned'
          throw failure
        }
        expect(world.holderOf('report')).toBeUndefined()
        return 'broken off'
      }
      world.fault({ on: 'release', kind: 'delay-request', ms: 50 })
      const outcome = world.track(loop())
      await world.time.advance(149)
      expect(outcome.status).toBe('pending')
      await world.time.advance(1)

      expect(outcome).toMatchObject(
        how === 'throw'
          ? { status: 'rejected', error: failure, at: 150 }
          : { status: 'fulfilled', value: how === 'return' ? 'returned' : 'broken off', at: 150 },
      )
      expect(world.holderOf('report')).toBeUndefined()
      election.start()
    },
  )

  test('ends when the election is stopped elsewhere, after its body', async ({ world }) => {
    const simba = world.client()
    let ended: number | undefined
    const loop = async () => {
      for await (const term of simba.election('report').terms()) {
        await term.revoked
        await world.time.sleep(300)
      }
      ended = world.time.now()
    }
    const looped = loop()
    await world.time.advance(1_000)
    const stopped = world.track(simba.election('report').stop())
    await world.time.advance(1_000)
    await world.soon(looped)

    expect(ended).toBe(1_300)
    expect(stopped.at).toBe(1_300)
  })

  test('ends when the election is stopped while it waits for a term', async ({ world }) => {
    world.client('b').election('report').start()
    await world.time.settle()
    const election = world.client('a').election('report')
    const terms = election.terms()
    const next = world.track(terms.next())
    await world.time.advance(1_000)
    await world.soon(election.stop())

    expect(next).toMatchObject({ status: 'fulfilled', value: { done: true, value: undefined } })
    expect(await world.soon(terms.next())).toEqual({ done: true, value: undefined })
  })

  test('ends when the client is closed, while it waits and after its body', async ({ world }) => {
    world.client('b').election('led').start()
    await world.time.settle()
    const simba = world.client('a')
    const waiting = world.track(simba.election('led').terms().next())
    const log: string[] = []
    const loop = async () => {
      for await (const term of simba.election('report').terms()) {
        await term.revoked
        log.push('body')
      }
      log.push('ended')
    }
    const looped = loop()
    await world.time.settle()
    await world.soon(simba.close())
    await looped

    expect(log).toEqual(['body', 'ended'])
    expect(waiting.value).toEqual({ done: true, value: undefined })
  })

  test('never gets a term that had ended before it was asked for', async ({ world }) => {
    const election = world.client().election('report')
    const terms = election.terms()
    const first = await world.soon(terms.next())
    const second = world.track(terms.next())
    // It is asked for the second while the first term is still running, so the first one goes on, idle.
    await world.time.advance(LEASE)
    expect(first.value?.isValid).toBe(true)
    expect(second.status).toBe('pending')
    expire(world)
    await world.time.advance(RENEW)

    expect(second.value?.value).toMatchObject({ token: 2n, isValid: true })
    await world.soon(terms.return?.() ?? Promise.reject())
  })
})

describe('the body', () => {
  test('is work: a hand-over waits for it, until it asks for the next term', async ({ world }) => {
    const election = world.client().election('report')
    const loop = async () => {
      for await (const term of election.terms()) {
        await term.revoked
        await world.time.sleep(2_000)
      }
    }
    void loop()
    await world.time.advance(1_000)
    const steppedDown = world.track(election.stepDown('1h'))
    await world.time.advance(1_999)
    expect(world.holderOf('report')).toBeDefined()
    await world.time.advance(1)

    expect(world.holderOf('report')).toBeUndefined()
    expect(steppedDown.at).toBe(3_000)
  })

  test('that asks for the next term at once leaves the term idle, and nothing delays its end', async ({
    world,
  }) => {
    const election = world.client().election('report')
    let bodies = 0
    const loop = async () => {
      for await (const _ of election.terms()) bodies += 1
    }
    void loop()
    await world.time.advance(3 * LEASE)

    expect(bodies).toBe(1)
    expect(election.term?.isValid).toBe(true)
    await world.soon(election.stop())
  })

  test('of a lost term keeps the node from competing, until it ends', async ({ world }) => {
    const a = world.client('a').election('report')
    const tokens: bigint[] = []
    let finish: () => void = () => {}
    const loop = async () => {
      for await (const term of a.terms()) {
        tokens.push(term.token)
        if (term.token === 1n) await new Promise<void>((resolve) => (finish = resolve))
        else await term.revoked
      }
    }
    void loop()
    await world.time.settle()
    expire(world)
    await world.time.advance(4 * LEASE)

    expect(tokens).toEqual([1n])
    expect(world.holderOf('report')).toBeUndefined()
    expect(a.term).toBeUndefined()
    finish()
    await world.time.settle()
    expect(tokens).toEqual([1n, 2n])
  })

  test('of a lost term does not keep other nodes from leading', async ({ world }) => {
    const loop = async () => {
      for await (const _ of world.client('a').election('report').terms()) await new Promise(() => {})
    }
    void loop()
    await world.time.settle()
    world.client('b').election('report').start()
    await world.time.advance(100)
    world.fault({ client: 'a', kind: 'lose-request' })
    await world.time.advance(2 * LEASE)
    expect(world.get('b').election('report').term?.isValid).toBe(true)
    world.heal()
    await world.time.advance(RENEW)
  })
})

describe('a signal', () => {
  test('that aborts while the loop waits makes it throw the signal’s reason', async ({ world }) => {
    world.client('b').election('report').start()
    await world.time.settle()
    const controller = new AbortController()
    const election = world.client('a').election('report')
    const next = world.track(election.terms({ signal: controller.signal }).next())
    await world.time.advance(1_000)
    const reason = new Error('shutting down')
    controller.abort(reason)
    await world.time.settle()

    expect(next).toMatchObject({ status: 'rejected', error: reason })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    election.start()
  })

  test('that aborts in the body ends the term, and the loop throws the reason after the body', async ({
    world,
  }) => {
    const controller = new AbortController()
    const reason = new Error('shutting down')
    const election = world.client().election('report')
    const log: string[] = []
    const loop = async () => {
      for await (const term of election.terms({ signal: controller.signal })) {
        log.push(await term.revoked)
        await world.time.sleep(500)
        expect(world.holderOf('report')).toBeDefined()
        log.push('body ended')
      }
    }
    const looped = world.track(loop())
    await world.time.advance(1_000)
    controller.abort(reason)
    await world.time.advance(500)

    expect(log).toEqual(['STOPPED', 'body ended'])
    expect(looped).toMatchObject({ status: 'rejected', error: reason, at: 1_500 })
    expect(world.holderOf('report')).toBeUndefined()
  })

  test('that aborts in a body which then breaks off is no error', async ({ world }) => {
    const controller = new AbortController()
    const election = world.client().election('report')
    const loop = async () => {
      for await (const term of election.terms({ signal: controller.signal })) {
        await term.revoked
        break
      }
    }
    const looped = world.track(loop())
    await world.time.settle()
    controller.abort()
    await world.time.settle()
    expect(looped.status).toBe('fulfilled')
  })

  test('that has aborted before makes the first request reject, and starts nothing', async ({ world }) => {
    const reason = new Error('too late')
    const simba = world.client()
    const terms = simba.election('report').terms({ signal: AbortSignal.abort(reason) })
    expect(await world.failure(terms.next())).toBe(reason)
    expect(simba.snapshot().elections).toEqual([])
  })

  test('has no listener any more when the loop is over', async ({ world }) => {
    const { signal } = new AbortController()
    const election = world.client().election('report')
    for (let round = 0; round < 3; round += 1) {
      await world.soon(
        (async () => {
          for await (const _ of election.terms({ signal })) {
            expect(getEventListeners(signal, 'abort')).toHaveLength(1)
            break
          }
        })(),
      )
      expect(getEventListeners(signal, 'abort')).toEqual([])
    }
  })
})

describe('by hand', () => {
  test('concurrent requests are served in their order, each with a term of its own', async ({ world }) => {
    const election = world.client().election('report')
    const terms = election.terms()
    const requests = [terms.next(), terms.next(), terms.next()].map((request) => world.track(request))
    await world.time.settle()
    expect(requests.map(({ status }) => status)).toEqual(['fulfilled', 'pending', 'pending'])
    for (const _ of [1, 2]) {
      expire(world)
      await world.time.advance(LEASE)
    }

    expect(requests.map(({ value }) => value?.value?.token)).toEqual([1n, 2n, 3n])
    await world.soon(terms.return?.() ?? Promise.reject())
    expect(await world.soon(terms.next())).toEqual({ done: true, value: undefined })
  })

  test('return() ends a request that waits', async ({ world }) => {
    world.client('b').election('report').start()
    await world.time.settle()
    const terms = world.client('a').election('report').terms()
    const next = world.track(terms.next())
    await world.time.advance(100)
    expect(await world.soon(terms.return?.() ?? Promise.reject())).toEqual({ done: true, value: undefined })
    expect(next.value).toEqual({ done: true, value: undefined })
  })

  test('return() before the first request starts nothing, ever', async ({ world }) => {
    const simba = world.client()
    const terms = simba.election('report').terms()
    await world.soon(terms.return?.() ?? Promise.reject())
    expect(await world.soon(terms.next())).toEqual({ done: true, value: undefined })
    expect(world.calls).toEqual([])
  })

  test('a closed client refuses the first request', async ({ world }) => {
    const simba = world.client()
    const terms = simba.election('report').terms()
    await world.soon(simba.close())
    expect(await world.failure(terms.next())).toBeInstanceOf(ClosedError)
  })

  test('an unknown option is refused at once', ({ world }) => {
    // @ts-expect-error no such option
    expect(() => world.client().election('report').terms({ sginal: undefined })).toThrow(ConfigError)
  })

  test('a term that was taken by deadline while nobody asked is skipped', async ({ world }) => {
    const election = world.client().election('report')
    const terms = election.terms()
    const seen: Term[] = []
    const first = await world.soon(terms.next())
    if (first.done !== true) seen.push(first.value)
    world.fault({ kind: 'lose-request' })
    await world.time.advance(VALID)
    world.heal()
    await world.time.advance(2 * LEASE)
    // Nobody asked, so nothing was taken meanwhile.
    expect(world.holderOf('report')).toBeUndefined()
    const second = await world.soon(terms.next())
    expect(second.value).toMatchObject({ token: 2n, isValid: true })
    await world.soon(terms.return?.() ?? Promise.reject())
  })
})
