/** Renewals that do not renew: whatever the backend says, a term ends no later than what was granted, and an event says why. */
import type { LeaseBackend } from '@simba/core'
import { expect } from 'vitest'
import { LEASE, RENEW, test, VALID } from '../api/world.js'
import { Oracle } from './oracle.js'

test('a backend that answers renewals without renewing: terms end by the deadline, and the granted time is told', async ({
  world,
}) => {
  const own = world.backend.connect('a')
  let openedAt = 0
  const backend: LeaseBackend = {
    name: 'forgetful',
    openSession: async (...given) => {
      openedAt = world.time.now()
      return own.openSession(...given)
    },
    // The truth about a session that nobody renews: it lives for less and less.
    keepAlive: async () => {
      const remainingMs = LEASE - (world.time.now() - openedAt)
      return remainingMs > 0
        ? { kind: 'renewed', remainingMs, owned: [{ name: 'report', token: 1n }] }
        : { kind: 'expired' }
    },
    closeSession: (...given) => own.closeSession(...given),
    acquire: (...given) => own.acquire(...given),
    release: (...given) => own.release(...given),
    join: (...given) => own.join(...given),
    leave: (...given) => own.leave(...given),
    members: (...given) => own.members(...given),
    close: () => own.close(),
  }
  const oracle = new Oracle(world)
  oracle.compete('a', 'report', { backend })
  await world.time.advance(1)
  oracle.compete('b', 'report')
  const [first] = oracle.terms
  await oracle.pass(VALID - 100)
  expect(first?.term.isValid).toBe(true)
  await oracle.pass(LEASE - VALID + 99) // its session expires 1 ms later
  expect(first?.term.isValid).toBe(false)
  expect(world.published('SessionLeaseShortened', 'a')[0]).toMatchObject({ askedMs: LEASE })
  await oracle.pass(2 * LEASE)
  world.mayLeaveSessions = true
})

test('records that are gone from the backend, and taken by another meanwhile: the term ends at the next renewal for good', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  const simba = world.client('a')
  const election = simba.election('report')
  election.start({ onElected: (term) => oracle.watch('a', term) })
  await oracle.pass(RENEW + 1)
  world.backend.loseData()
  const b = world.client('b')
  const held = await world.soon(b.lock('report').acquire())
  await world.soon(held.release())
  const [first] = oracle.terms
  await world.time.advance(RENEW)
  expect(world.published('Revoked', 'a')).toMatchObject([
    { reason: 'SESSION_EXPIRED', token: first?.term.token },
  ])
  for (let look = 0; look < 100; look += 1) {
    await world.time.advance(500)
    expect(first?.term.isValid).toBe(false)
  }
  expect(election.term?.token).toBeGreaterThan(held.token)
})
