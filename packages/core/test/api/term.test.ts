/** Terms: what they say, why they end, and that an ended one stays ended. */
import { type Election, type Term, TermEndedError, TermExpiredError, TermRevokedError } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

async function lead(world: World): Promise<{ readonly election: Election; readonly term: Term }> {
  const election = world.client().election('report')
  election.start()
  await world.time.settle()
  const { term } = election
  if (term === undefined) throw new Error('It does not lead.')
  return { election, term }
}

describe('a term that runs', () => {
  test('counts down to the deadline, which each renewal moves', async ({ world }) => {
    const { term } = await lead(world)

    expect(term.remaining()).toBe(VALID)
    await world.time.advance(1_000)
    expect(term.remaining()).toBe(VALID - 1_000)
    await world.time.advance(RENEW - 1_000)
    expect(term.remaining()).toBe(VALID)
  })

  test('is the same object over 20 renewals, and right all along', async ({ world }) => {
    const { term } = await lead(world)
    const { revoked, signal } = term
    for (let renewal = 1; renewal <= 20; renewal += 1) {
      await world.time.advance(RENEW)
      expect(world.callsOf('keepAlive')).toHaveLength(renewal)
      expect(term.isValid).toBe(true)
      expect(term.remaining()).toBe(VALID)
      term.ensureValid('14s')
    }

    expect(term.token).toBe(1n)
    expect(term.revoked).toBe(revoked)
    expect(term.signal).toBe(signal)
    expect(signal.aborted).toBe(false)
  })

  test('counts from when the request was sent: a slow answer makes the deadline earlier, never later', async ({
    world,
  }) => {
    world.fault({ on: 'openSession', kind: 'delay-reply', ms: 2_000 })
    const election = world.client().election('report')
    election.start()
    await world.time.advance(2_000)

    expect(election.term?.remaining()).toBe(VALID - 2_000)
  })

  test('throws from ensureValid unless it is valid for longer than is needed', async ({ world }) => {
    const { term } = await lead(world)
    world.fault({ on: 'keepAlive', kind: 'fail-before' })
    await world.time.advance(VALID - 2_000)

    term.ensureValid()
    term.ensureValid(0)
    term.ensureValid('1s')
    term.ensureValid(1_999)
    for (const needed of [2_000, '2s', '1h'] as const) {
      expect(() => term.ensureValid(needed)).toThrow(TermExpiredError)
      expect(() => term.ensureValid(needed)).toThrow(TermEndedError)
    }
    expect(() => term.ensureValid('2s')).toThrow(
      'The term of "report" with token 1 has 2000 ms left, and more than 2000 ms are needed. Begin the step in a later renewal or term.',
    )
    // @ts-expect-error not a duration
    expect(() => term.ensureValid('soon')).toThrow(
      /ensureValid: minRemaining is 'soon'; give a number of milliseconds/,
    )
  })

  test('prints as JSON, alone and inside other things', async ({ world }) => {
    const { term } = await lead(world)

    expect(JSON.stringify(term)).toBe('{"name":"report","token":"1","isValid":true}')
    expect(JSON.parse(JSON.stringify({ term, at: 1 }))).toEqual({
      term: { name: 'report', token: '1', isValid: true },
      at: 1,
    })
    expect(String(term.token)).toBe('1')
  })
})

describe('a term that has ended', () => {
  test('is invalid, has nothing remaining, throws from ensureValid, and says why', async ({ world }) => {
    const { election, term } = await lead(world)
    const early = term.signal
    void election.stop()

    expect(term.isValid).toBe(false)
    expect(term.remaining()).toBe(0)
    expect(() => term.ensureValid()).toThrow(
      'The term of "report" with token 1 has ended (STOPPED). Begin nothing more in it; the next term is a new one.',
    )
    expect(early.aborted).toBe(true)
    expect(early.reason).toBeInstanceOf(TermRevokedError)
    expect(early.reason).toMatchObject({ reason: 'STOPPED', code: 'SIMBA_TERM_REVOKED' })
    expect(early.reason.message).toBe('The term of "report" with token 1 ended: STOPPED.')
    expect(await term.revoked).toBe('STOPPED')
    expect(JSON.stringify(term)).toBe('{"name":"report","token":"1","isValid":false}')
  })

  test('tells late askers the same as early ones', async ({ world }) => {
    const { election, term } = await lead(world)
    await world.soon(election.stop())

    expect(term.signal.aborted).toBe(true)
    expect(term.signal.reason).toMatchObject({ reason: 'STOPPED' })
    expect(await world.soon(term.revoked)).toBe('STOPPED')
    expect(term.signal).toBe(term.signal)
    expect(term.revoked).toBe(term.revoked)
  })

  test('aborts the signal once, and only after isValid is false', async ({ world }) => {
    const { election, term } = await lead(world)
    const seen: boolean[] = []
    term.signal.addEventListener('abort', () => seen.push(term.isValid))
    await world.soon(election.stop())
    await world.time.advance(LEASE)

    expect(seen).toEqual([false])
  })

  test('never becomes valid again, though its node leads again', async ({ world }) => {
    const election = world.client().election('report')
    election.start()
    await world.time.settle()
    const terms: Term[] = []
    for (let round = 0; round < 5; round += 1) {
      if (election.term !== undefined) terms.push(election.term)
      await world.soon(election.stepDown(0))
      await world.time.settle()
    }

    expect(new Set(terms).size).toBe(5)
    expect(terms.map(({ token }) => token)).toEqual([1n, 2n, 3n, 4n, 5n])
    expect(election.term?.token).toBe(6n)
    expect(terms.some(({ isValid }) => isValid)).toBe(false)
    await world.time.advance(3 * LEASE)
    expect(terms.some(({ isValid }) => isValid)).toBe(false)
    expect(election.term?.isValid).toBe(true)
  })

  test('stays ended after its deadline, though the session is renewed too late and nothing has run meanwhile', async ({
    world,
  }) => {
    const clock = world.time.clock()
    const election = world.client('a', { clock }).election('report')
    election.start()
    await world.time.settle()
    const { term } = election
    clock.pause()
    await world.time.advance(VALID)

    // No timer has run, no callback; and the first read is right.
    expect(term?.isValid).toBe(false)
    expect(term?.remaining()).toBe(0)
    expect(election.term).toBe(term)
    expect(() => term?.ensureValid()).toThrow(/has ended \(DEADLINE_PASSED\)/)
    clock.resume()
    await world.time.advance(LEASE)
    expect(term?.isValid).toBe(false)
    expect(await world.soon(term?.revoked ?? Promise.reject())).toBe('DEADLINE_PASSED')
    expect(election.term?.token).toBeGreaterThan(1n)
  })
})

describe('the reason', () => {
  test('is STOPPED when the election is stopped, its signal aborts, the lock is released or the client closed', async ({
    world,
  }) => {
    const simba = world.client()
    const controller = new AbortController()
    simba.election('stopped').start()
    simba.election('aborted').start({}, { signal: controller.signal })
    simba.election('closed').start()
    const held = await world.soon(simba.lock('released').acquire())
    await world.time.settle()
    const reasons = ['stopped', 'aborted', 'closed'].map((name) => simba.election(name).term?.revoked)
    controller.abort()
    await world.soon(Promise.all([simba.election('stopped').stop(), held.release()]))
    await world.soon(simba.close())

    expect(await Promise.all([...reasons, held.revoked])).toEqual([
      'STOPPED',
      'STOPPED',
      'STOPPED',
      'STOPPED',
    ])
  })

  test('is STEPPED_DOWN after a step-down', async ({ world }) => {
    const { election, term } = await lead(world)
    await world.soon(election.stepDown())

    expect(await term.revoked).toBe('STEPPED_DOWN')
  })

  test.for(['fail-before', 'lose-request', 'lose-reply', 'fail-after'] as const)(
    'is DEADLINE_PASSED, at the deadline, when every renewal meets %s',
    async (kind, { world }) => {
      const { term } = await lead(world)
      world.fault({ on: 'keepAlive', kind })
      const revoked = world.track(term.revoked)
      await world.time.advance(VALID - 1)
      expect(revoked.status).toBe('pending')
      await world.time.advance(1)
      expect(revoked).toMatchObject({ value: 'DEADLINE_PASSED', at: VALID })
      world.heal()
      await world.time.advance(LEASE)
    },
  )

  test('is SESSION_EXPIRED when the backend says so at a renewal', async ({ world }) => {
    const { term } = await lead(world)
    world.backend.loseData()
    const revoked = world.track(term.revoked)
    await world.time.advance(RENEW)

    expect(revoked).toMatchObject({ value: 'SESSION_EXPIRED', at: RENEW })
  })

  test('is SESSION_EXPIRED as soon as any call hears of it', async ({ world }) => {
    const simba = world.client()
    simba.election('report').start()
    await world.time.advance(1_000)
    const revoked = world.track(simba.election('report').term?.revoked ?? Promise.reject())
    world.backend.loseData()
    simba.election('other').start()
    await world.time.settle()

    expect(revoked).toMatchObject({ value: 'SESSION_EXPIRED', at: 1_000 })
    expect(simba.election('report').term?.isValid).toBe(true)
    expect(simba.election('other').term?.isValid).toBe(true)
  })

  test('is TAKEN_OVER when a renewal does not list the lease', async ({ world }) => {
    const { term } = await lead(world)
    const session = world.published('SessionOpened')[0]?.session ?? ''
    const call = { signal: new AbortController().signal, timeoutMs: 1 }
    // Somebody deletes the lease by hand, and another takes it.
    await world.backend.release({ id: session, leaseMs: LEASE }, 'report', 1n, call)
    const held = await world.soon(world.client('b').lock('report').acquire())
    const revoked = world.track(term.revoked)
    await world.time.advance(RENEW)

    expect(revoked).toMatchObject({ value: 'TAKEN_OVER', at: RENEW })
    await world.soon(held.release())
    await world.time.advance(2 * RENEW)
    expect(term.isValid).toBe(false)
    expect(world.published('Elected').at(-1)?.token).toBe(3n)
  })

  test('is told to the event, the callback, the promise and the signal alike', async ({ world }) => {
    const heard: unknown[] = []
    const election = world.client().election('report')
    election.start({ onRevoked: (_, reason) => void heard.push(reason) })
    await world.time.settle()
    const { term } = election
    term?.signal.addEventListener('abort', () => heard.push(term.signal.reason.reason))
    void term?.revoked.then((reason) => heard.push(reason))
    world.backend.loseData()
    await world.time.advance(RENEW)

    expect(heard).toEqual(['SESSION_EXPIRED', 'SESSION_EXPIRED', 'SESSION_EXPIRED'])
    expect(world.published('Revoked')).toEqual([
      { type: 'Revoked', name: 'report', token: 1n, reason: 'SESSION_EXPIRED' },
    ])
  })
})
