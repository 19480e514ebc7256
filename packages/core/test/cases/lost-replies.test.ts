/** Calls of which nobody knows whether they took effect: renewals and attempts whose answers do not come, and connections that come back. */
import { type Simba, type Term, TermRevokedError } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from '../api/world.js'
import { Oracle } from './oracle.js'

/** Heads or tails: the same series for the same seed. */
function coin(seed: number): () => boolean {
  let word = seed
  return () => {
    word = (Math.imul(word, 1664525) + 1013904223) | 0
    return word >>> 31 === 0
  }
}

describe('one of two renewals fails at random for ten minutes: a term ends when nothing was answered for as long as it is valid, never before, and work that looks at its signal is silent from then on:', () => {
  // An error that comes at once leaves time for many more tries.
  const kinds = [
    { kind: 'lose-reply', ends: 'some terms' },
    { kind: 'lose-request', ends: 'some terms' },
    { kind: 'fail-before', ends: 'no term' },
    { kind: 'fail-after', ends: 'no term' },
  ] as const

  test.for(kinds)('$kind, which ends $ends', async ({ kind, ends }, { world }) => {
    const { time } = world
    const toss = coin(7)
    let failed = 0
    /** When that call was sent which was the last to be answered. */
    let answered = 0
    world.fault({
      on: 'keepAlive',
      decide: () => {
        if (toss()) {
          answered = time.now()
          return undefined
        }
        failed += 1
        return { kind }
      },
    })
    const simba = world.client('a')
    const revoked = new Map<bigint, { readonly at: number; readonly silenceMs: number }>()
    simba.subscribe((event) => {
      if (event.type === 'SessionOpened') answered = time.now()
      if (event.type === 'Revoked')
        revoked.set(event.token, { at: time.now(), silenceMs: time.now() - answered })
    })
    const writes: { readonly at: number; readonly token: bigint; readonly valid: boolean }[] = []
    const election = simba.election('report')
    election.runWhileLeader(async (term) => {
      while (!term.signal.aborted) {
        writes.push({ at: time.now(), token: term.token, valid: term.isValid })
        await time.sleep(100)
      }
    })
    for (let step = 0; step < 12_000; step += 1) {
      await time.advance(50)
      if (election.term?.isValid === true) expect(time.now() - answered).toBeLessThan(VALID)
    }

    expect(failed).toBeGreaterThan(30)
    expect(revoked.size > 0 ? 'some terms' : 'no term').toBe(ends)
    expect(revoked.size).toBeLessThan(failed / 2)
    for (const { silenceMs } of revoked.values()) expect(silenceMs).toBeCloseTo(VALID)
    for (const { reason } of world.published('Revoked')) expect(reason).toBe('DEADLINE_PASSED')
    expect(writes.length).toBeGreaterThan(1_000)
    const late = writes.filter(({ at, token, valid }) => !valid || at > (revoked.get(token)?.at ?? Infinity))
    expect(late).toEqual([])
  })
})

describe('an attempt that takes effect, and whose answer', () => {
  const late = {
    'comes after its timeout': { kind: 'delay-reply', ms: RENEW + 1_000 },
    'comes two timeouts later': { kind: 'delay-reply', ms: 2 * RENEW },
    'never comes': { kind: 'lose-reply' },
    'is an error': { kind: 'fail-after' },
  } as const

  test.for(Object.entries(late))(
    '%s: the node leads within a renewal of its timeout, by the lease that it has',
    async ([, fault], { world }) => {
      const oracle = new Oracle(world)
      await world.soon(world.client('a').ready())
      world.fault({ on: 'acquire', client: 'a', times: 1, ...fault })
      const election = world.get('a').election('report')
      election.start({ onElected: (term) => oracle.watch('a', term) })
      await world.time.advance(1)
      expect(world.holderOf('report')).toBe(world.get('a').snapshot().session.id)
      expect(oracle.leader).toBeUndefined()
      oracle.compete('b', 'report')
      await oracle.pass(2 * RENEW)
      const { leader } = oracle
      expect(leader).toBeDefined()
      expect(world.holderOf('report')).toBe(world.get(leader ?? '').snapshot().session.id)
      await oracle.pass(2 * LEASE)
      expect(oracle.leader).toBe(leader)
    },
  )

  test.for(Object.entries(late))(
    '%s: once nobody wants it any more, another node leads within a renewal',
    async ([, fault], { world }) => {
      const oracle = new Oracle(world)
      const simba = world.client('a')
      await world.soon(simba.ready())
      world.fault({ on: 'acquire', client: 'a', times: 1, ...fault })
      const gaveUp = world.failure(simba.lock('report').acquire({ timeout: 100 }), 101)
      oracle.compete('b', 'report')
      await gaveUp
      await oracle.pass(2 * RENEW + RENEW)
      expect(oracle.leader).toBe('b')
    },
  )
})

describe('after each of three connections lost for longer than a lease, what is taken anew by the same name is renewed as ever:', () => {
  /** Takes it, and says how to be rid of what is left of it once it is lost. */
  type Take = (simba: Simba, world: World) => Promise<{ term: Term; over: () => Promise<void> }>

  const takes: Record<string, Take> = {
    'a lock': async (simba) => {
      const term = await simba.lock('order').acquire()
      return { term, over: () => term.release() }
    },
    'a lock for a function': (simba, world) =>
      new Promise((resolve) => {
        const rejected = simba
          .lock('order')
          .withLock(async (term) => {
            resolve({ term, over: () => rejected })
            await world.time.sleep(6 * LEASE)
          })
          .catch((error: unknown) => expect(error).toBeInstanceOf(TermRevokedError))
      }),
    'an election': (simba) =>
      new Promise((resolve) => {
        const election = simba.election('order')
        election.start({ onElected: (term) => resolve({ term, over: () => election.stop() }) })
      }),
  }

  test.for(Object.entries(takes))('%s', async ([, take], { world }) => {
    const { time } = world
    const simba = world.client('a')
    for (let outage = 0; outage < 3; outage += 1) {
      const { term, over } = await time.until(take(simba, world), { within: RENEW })
      for (const end = time.now() + 5 * LEASE; time.now() < end; ) {
        await time.advance(100)
        expect(term.isValid).toBe(true)
        expect(world.holderOf('order')).toBe(simba.snapshot().session.id)
      }
      world.fault({ client: 'a', kind: 'lose-request' })
      await time.advance(2 * LEASE)
      expect(await world.soon(term.revoked)).toBe('DEADLINE_PASSED')
      expect(world.holderOf('order')).toBeUndefined()
      await time.until(over(), { within: LEASE })
      world.heal()
    }
  })
})
