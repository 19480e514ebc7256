/** A group grows: no owner is robbed. Each partition that moves is finished here before it begins there. */
import { expect } from 'vitest'
import { LEASE, test, type World } from '../api/world.js'

interface Run {
  readonly node: string
  readonly partition: number
  readonly token: bigint
  readonly from: number
  told: number | undefined
  to: number | undefined
}

function member(world: World, node: string, runs: Run[], lastsMs: number): void {
  world
    .client(node)
    .group('billing', { partitions: 40 })
    .runWhileLeader(async (term, partition) => {
      const { token } = term
      const run: Run = { node, partition, token, from: world.time.now(), told: undefined, to: undefined }
      runs.push(run)
      await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }))
      run.told = world.time.now()
      await world.time.sleep(lastsMs) // its checkpoint
      run.to = world.time.now()
    })
}

test('a third node takes its share of 40 partitions after their old owners have checkpointed', async ({
  world,
}) => {
  const runs: Run[] = []
  member(world, 'a', runs, 700)
  member(world, 'b', runs, 700)
  await world.time.advance(LEASE)
  const before = new Map(runs.filter(({ to }) => to === undefined).map((run) => [run.partition, run]))
  expect(before.size).toBe(40)

  member(world, 'c', runs, 700)
  await world.time.advance(2 * LEASE)
  const moved = runs.filter(({ node }) => node === 'c')
  expect(moved.length).toBeGreaterThan(5)
  expect(runs.filter(({ to }) => to === undefined)).toHaveLength(40)
  for (const { partition, token, from } of moved) {
    const old = before.get(partition)
    if (old?.told === undefined || old.to === undefined)
      throw new Error(`partition ${partition} was not finished`)
    expect(old.to - old.told).toBe(700)
    expect(from).toBeGreaterThanOrEqual(old.to)
    expect(token).toBeGreaterThan(old.token)
  }
  // Those that do not move are left in peace.
  const stayed = [...before.values()].filter(
    ({ partition }) => !moved.some((run) => run.partition === partition),
  )
  expect(stayed.every(({ told }) => told === undefined)).toBe(true)
})
