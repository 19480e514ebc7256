/** Partition groups: every partition on exactly one node, and moved in order. */
import { AlreadyStartedError, ConfigError, type GroupTask, partitionsOf, type Simba } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

const PARTITIONS = 16

/** Runs the group with work that ends with its term; writes down which partition runs where. */
function run(simba: Simba, id: string, running: Map<number, string[]>): GroupTask {
  return simba.group('billing', { partitions: PARTITIONS }).runWhileLeader(async (term, partition) => {
    const nodes = running.get(partition) ?? []
    running.set(partition, [...nodes, id])
    await term.revoked
    running.set(
      partition,
      (running.get(partition) ?? []).filter((node) => node !== id),
    )
  })
}

/** Where each partition runs now. */
function where(running: ReadonlyMap<number, readonly string[]>): readonly (readonly string[])[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => running.get(partition) ?? [])
}

async function spread(world: World): Promise<void> {
  await world.time.advance(3 * RENEW)
}

describe('partitions', () => {
  test('each runs on exactly one node, as the formula says, whatever joins and leaves', async ({ world }) => {
    const running = new Map<number, string[]>()
    const nodes = ['a', 'b', 'c'].map((id) => ({ id, simba: world.client(id) }))
    const tasks = new Map<string, GroupTask>()
    for (const { id, simba } of nodes) {
      tasks.set(id, run(simba, id, running))
      await spread(world)
      expect(where(running).map((on) => on.length)).toEqual(Array(PARTITIONS).fill(1))
    }
    const members = nodes.map(({ simba }) => simba.snapshot().session.id ?? '')
    for (const { id, simba } of nodes) {
      const own = partitionsOf(simba.snapshot().session.id ?? '', members, PARTITIONS)
      expect(tasks.get(id)?.partitions()).toEqual(own)
      expect([...(tasks.get(id)?.members() ?? [])].sort()).toEqual([...members].sort())
      expect(where(running).flatMap((on, partition) => (on[0] === id ? [partition] : []))).toEqual(own)
    }
    const before = where(running)
    await world.time.until(tasks.get('b')?.stop() ?? Promise.reject(), { within: RENEW })
    await spread(world)
    const after = where(running)
    expect(after.every((on) => on.length === 1 && on[0] !== 'b')).toBe(true)
    // Only what the leaving node had has moved.
    for (const [partition, on] of before.entries()) if (on[0] !== 'b') expect(after[partition]).toEqual(on)
  })

  test('one that moves goes over in order: revoked, exited, given back, then begun elsewhere with a larger token', async ({
    world,
  }) => {
    const lines: string[] = []
    const work =
      (id: string) => async (term: { token: bigint; revoked: Promise<unknown> }, partition: number) => {
        lines.push(`${partition} begins on ${id} with ${term.token}`)
        await term.revoked
        lines.push(`${partition} is revoked on ${id}`)
        await world.time.sleep(1_000)
        lines.push(`${partition} has exited on ${id}`)
      }
    world.client('a').group('g', { partitions: 6 }).runWhileLeader(work('a'))
    await spread(world)
    const b = world.client('b').group('g', { partitions: 6 }).runWhileLeader(work('b'))
    await spread(world)
    const moved = b.partitions()
    expect(moved.length).toBeGreaterThan(0)
    for (const partition of moved) {
      const own = lines.filter((line) => line.startsWith(`${partition} `))
      expect(own).toEqual([
        expect.stringMatching(/begins on a with \d+/),
        `${partition} is revoked on a`,
        `${partition} has exited on a`,
        expect.stringMatching(/begins on b with \d+/),
      ])
      const [first, second] = own.flatMap((line) => /with (\d+)/.exec(line)?.slice(1) ?? []).map(BigInt)
      expect(second).toBeGreaterThan(first ?? 0n)
    }
  })

  test('those of a node that is cut off go to the others once its lease is over', async ({ world }) => {
    const running = new Map<number, string[]>()
    run(world.client('a'), 'a', running)
    run(world.client('b'), 'b', running)
    await spread(world)
    world.fault({ client: 'a', kind: 'lose-request' })
    await world.time.advance(LEASE + 2 * RENEW)
    expect(where(running)).toEqual(Array(PARTITIONS).fill(['b']))
    world.heal()
    await world.time.advance(LEASE)
    expect(where(running).every((on) => on.length === 1)).toBe(true)
    expect(where(running).some((on) => on[0] === 'a')).toBe(true)
  })

  test('a hint of a new member makes them move at once, before the next refresh', async ({ world }) => {
    const running = new Map<number, string[]>()
    run(world.client('a'), 'a', running)
    await spread(world)
    await world.time.advance(1_000)
    const b = run(world.client('b'), 'b', running)
    await world.time.advance(10)
    expect(b.partitions().length).toBeGreaterThan(0)
    expect(where(running).some((on) => on[0] === 'b')).toBe(true)
  })
})

describe('stop', () => {
  test('also waits for partitions that had moved away before and are still handing over', async ({
    world,
  }) => {
    const task = world
      .client('a')
      .group('g', { partitions: 8 })
      .runWhileLeader(() => world.time.sleep(8_000))
    await world.time.advance(1_000)
    world
      .client('b')
      .group('g', { partitions: 8 })
      .runWhileLeader((term) => term.revoked)
    await world.time.advance(10)
    const kept = task.partitions()
    expect(kept.length).toBeLessThan(8)
    const stopped = world.track(task.stop())
    await world.time.advance(6_900)
    expect(stopped.status).toBe('pending')
    await world.time.advance(200)
    expect(stopped.status).toBe('fulfilled')
    await world.time.advance(RENEW)
    expect(world.get('b').snapshot().groups).toMatchObject([{ partitions: [0, 1, 2, 3, 4, 5, 6, 7] }])
  })

  test('ends the membership and frees the names; the group can be started again', async ({ world }) => {
    const simba = world.client()
    const group = simba.group('g', { partitions: 2 })
    const task = group.runWhileLeader((term) => term.revoked)
    await spread(world)
    expect(() => group.runWhileLeader(() => {})).toThrow(AlreadyStartedError)
    expect(() => simba.election('g.1').start()).toThrow(/as a partition/)
    await world.soon(task.stop())
    await task.done
    expect(world.backend.contents().groups).toEqual([])
    expect(task.partitions()).toEqual([])
    expect(simba.snapshot()).toMatchObject({ groups: [], elections: [] })
    simba.election('g.1').start()
    expect(() => group.runWhileLeader(() => {})).toThrow(/"g.1" is already started/)
    await world.soon(simba.election('g.1').stop())
    group.runWhileLeader((term) => term.revoked)
    await spread(world)
    expect(simba.snapshot().groups).toMatchObject([{ running: [0, 1] }])
  })

  test('by the signal it was started with', async ({ world }) => {
    const controller = new AbortController()
    const { signal } = controller
    const task = world
      .client()
      .group('g', { partitions: 2 })
      .runWhileLeader((term) => term.revoked, { signal })
    await spread(world)
    controller.abort()
    await world.soon(task.done)
    expect(world.backend.contents().groups).toEqual([])
  })
})

describe('memberships without an answer', () => {
  test('a join that timed out and took effect later, after a stop, is found and given back', async ({
    world,
  }) => {
    const simba = world.client()
    await world.soon(simba.ready())
    world.fault({ on: 'join', kind: 'delay-request', ms: RENEW + 1_000, times: 1 })
    world.fault({ on: 'join', kind: 'lose-reply', times: 1 })
    const task = simba.group('g', { partitions: 2 }).runWhileLeader(() => {})
    await world.time.advance(100)
    const stopped = world.track(task.stop())
    await world.time.advance(LEASE)
    expect(stopped.status).toBe('fulfilled')
    expect(simba.snapshot().session.state).toBe('LIVE')
    expect(world.backend.contents().groups).toEqual([])
  })

  test('a leave that failed is repeated until it is answered', async ({ world }) => {
    const simba = world.client()
    const task = simba.group('g', { partitions: 2 }).runWhileLeader(() => {})
    await spread(world)
    world.fault({ on: 'leave', kind: 'fail-before', times: 3 })
    await world.time.until(task.stop(), { within: RENEW })
    await world.time.advance(4 * RENEW)
    expect(world.callsOf('leave').length).toBeGreaterThan(3)
    expect(world.backend.contents().groups).toEqual([])
  })

  test('a join that failed is repeated; until then this node runs nothing', async ({ world }) => {
    world.fault({ on: 'join', kind: 'fail-before', times: 2 })
    const task = world
      .client()
      .group('g', { partitions: 2 })
      .runWhileLeader((term) => term.revoked)
    await world.time.settle()
    expect(task.partitions()).toEqual([])
    await world.time.advance(4 * RENEW)
    expect(task.partitions()).toEqual([0, 1])
  })
})

test('views are published, empty ones too', async ({ world }) => {
  const simba = world.client()
  const task = simba.group('g', { partitions: 2 }).runWhileLeader((term) => term.revoked)
  await spread(world)
  const session = simba.snapshot().session.id ?? ''
  world.backend.expireSession(session)
  await world.time.advance(RENEW)
  const views = world
    .published('GroupChanged')
    .map(({ members, partitions }) => ({ members: members.length, partitions }))
  expect(views.slice(0, 2)).toEqual([
    { members: 1, partitions: [0, 1] },
    { members: 0, partitions: [] },
  ])
  expect(views.at(-1)).toEqual({ members: 1, partitions: [0, 1] })
  await world.soon(task.stop())
})

test('terms of partitions end by the deadline like all others', async ({ world }) => {
  const simba = world.client('a')
  const terms: { isValid: boolean; reason?: unknown }[] = []
  simba.group('g', { partitions: 2 }).runWhileLeader(async (term) => {
    const entry = {
      get isValid() {
        return term.isValid
      },
    }
    terms.push(entry)
    Object.assign(entry, { reason: await term.revoked })
  })
  await world.time.settle()
  world.fault({ client: 'a', kind: 'lose-request' })
  await world.time.advance(VALID - 1)
  expect(terms.map(({ isValid }) => isValid)).toEqual([true, true])
  await world.time.advance(1)
  expect(terms).toMatchObject([
    { isValid: false, reason: 'DEADLINE_PASSED' },
    { isValid: false, reason: 'DEADLINE_PASSED' },
  ])
  world.heal()
})

test.for([0, -1, 1.5, Number.NaN, 65_537])('%d partitions are refused', (partitions, { world }) => {
  expect(() => world.client().group('g', { partitions })).toThrow(ConfigError)
  expect(() => world.get('a').group('g', { partitions })).toThrow(/whole number from 1 to 65536/)
})
