/** A node that is held at a breakpoint while others go on. */
import { expect } from 'vitest'
import { LEASE, RENEW, test } from '../api/world.js'
import { Oracle } from './oracle.js'

const PARTITIONS = [0, 1, 2, 3, 4, 5, 6, 7]

test('held for three leases beside another node: that one runs all partitions meanwhile, and the node gets its share back without a call by the user', async ({
  world,
}) => {
  const oracles = PARTITIONS.map(() => new Oracle(world))
  const clock = world.time.clock()
  const start = (node: string, options: { readonly clock?: typeof clock } = {}) => {
    const simba = world.client(node, options)
    const task = simba
      .group('billing', { partitions: PARTITIONS.length })
      .runWhileLeader((term, partition) => {
        oracles[partition]?.watch(node, term)
        return term.revoked
      })
    return { simba, task }
  }
  const pass = async (ms: number) => {
    for (const end = world.time.now() + ms; world.time.now() < end; ) {
      await world.time.advance(50)
      for (const oracle of oracles) oracle.look()
    }
  }
  const leaders = () => oracles.map(({ leader }) => leader)

  const a = start('a', { clock })
  const b = start('b')
  await pass(2 * RENEW)
  const shares = leaders()
  expect(new Set(shares)).toEqual(new Set(['a', 'b']))
  const session = a.simba.snapshot().session.id

  clock.pause()
  await pass(3 * LEASE)
  expect(leaders()).toEqual(PARTITIONS.map(() => 'b'))
  expect(b.task.members()).toHaveLength(1)

  clock.resume()
  await pass(LEASE)
  expect(a.simba.snapshot().session).toMatchObject({ state: 'LIVE' })
  expect(a.simba.snapshot().session.id).not.toBe(session)
  expect(a.task.members()).toEqual(b.task.members())
  expect(a.task.members()).toHaveLength(2)
  const ofA = PARTITIONS.filter((partition) => leaders()[partition] === 'a')
  expect(ofA).not.toEqual([])
  expect(ofA).toEqual(a.task.partitions())
  expect(leaders()).not.toContain(undefined)
})
