/** Nodes that lose their backend: they stop in time, others go on, and everybody competes again afterwards. */
import { expect } from 'vitest'
import { LEASE, RENEW, test, VALID } from '../api/world.js'
import { FencedTable, Oracle } from './oracle.js'

test('work that ignores its signal for five leases writes nothing once another has written', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  const table = new FencedTable()
  world
    .client('a')
    .election('report')
    .runWhileLeader(async (term) => {
      oracle.watch('a', term)
      // It never looks at its signal, nor at isValid.
      for (const end = world.time.now() + 5 * LEASE; world.time.now() < end; ) {
        table.write(term.token)
        await world.time.sleep(1_000)
      }
    })
  await oracle.pass(RENEW)
  world
    .client('b')
    .election('report')
    .runWhileLeader(async (term) => {
      oracle.watch('b', term)
      table.write(term.token)
    })
  world.fault({ client: 'a', kind: 'lose-request' })
  await oracle.pass(2 * LEASE)
  expect(oracle.leader).toBe('b')
  const [first, second] = oracle.terms
  expect(first?.term.isValid).toBe(false)
  expect(table.refused.length).toBeGreaterThan(5)
  expect(new Set(table.refused)).toEqual(new Set([first?.term.token]))
  expect(table.accepted.at(-1)).toBe(second?.term.token)
  await oracle.pass(5 * LEASE)
})

test('with half of the renewals lost for ten minutes, only a run of losses up to the deadline ends a term', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  let word = 7
  const lost: number[] = []
  world.fault({
    on: 'keepAlive',
    client: 'a',
    decide: () => {
      word = (Math.imul(word, 1664525) + 1013904223) | 0
      if (word >>> 31 === 0) return undefined
      lost.push(world.time.now())
      return { kind: 'lose-reply' }
    },
  })
  oracle.compete('a', 'report')
  await oracle.pass(600_000)
  expect(lost.length).toBeGreaterThan(30)
  for (const { reason } of world.published('Revoked', 'a')) expect(reason).toBe('DEADLINE_PASSED')
  // Each end was earned: no answer came for as long as a term is valid.
  const ends = oracle.terms.length - 1
  const suspensions = world.published('SessionSuspended', 'a').length
  expect(ends).toBeLessThan(suspensions)
  expect(oracle.leader).toBe('a')
})

test('locks taken after an outage are renewed like those before it', async ({ world }) => {
  const simba = world.client('a')
  await world.soon(simba.lock('first').acquire())
  world.fault({ client: 'a', kind: 'lose-request' })
  await world.time.advance(VALID + RENEW)
  world.heal()
  const held = await Promise.all(
    ['one', 'two', 'three', 'four', 'five'].map((name) =>
      world.time.until(simba.lock(name).acquire(), { within: 2 * LEASE }),
    ),
  )
  await world.time.advance(4 * LEASE)
  expect(held.map((term) => term.isValid)).toEqual([true, true, true, true, true])
})

test('when every node has lost once, and again, somebody leads each time within a lease and an attempt', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  for (const node of ['a', 'b', 'c']) oracle.compete(node, 'report')
  await oracle.pass(RENEW)
  for (let round = 0; round < 3; round += 1) {
    for (let turn = 0; turn < 3; turn += 1) {
      const loser = oracle.leader
      expect(loser).toBeDefined()
      const mend = world.fault({ client: loser ?? '', kind: 'lose-request' })
      await oracle.pass(LEASE + RENEW)
      expect(oracle.leader).toBeDefined()
      expect(oracle.leader).not.toBe(loser)
      mend()
      await oracle.pass(LEASE)
      for (const node of ['a', 'b', 'c']) expect(world.get(node).health().status).toBe('up')
    }
  }
  const leaders = new Set(oracle.terms.map(({ node }) => node))
  expect(leaders.size).toBeGreaterThan(1)
})
