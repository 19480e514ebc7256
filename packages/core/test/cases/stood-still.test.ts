/** Processes that stood still: stopped, in a debugger, asleep. What they believe when they go on, and how they come back. */
import { Schedule, TermEndedError } from '@simba/core'
import { expect } from 'vitest'
import { LEASE, RENEW, test } from '../api/world.js'
import { FencedTable, Oracle } from './oracle.js'

test('stopped for a minute: the next check throws, a late write is refused, and a new term has a new token', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  const table = new FencedTable()
  const clock = world.time.clock()
  oracle.compete('a', 'report', { clock })
  await world.time.advance(1)
  oracle.compete('b', 'report')
  const [first] = oracle.terms
  if (first === undefined) throw new Error('a was not elected')
  table.write(first.term.token)
  clock.pause()
  await oracle.pass(60_000)
  expect(oracle.leader).toBe('b')
  table.write(oracle.terms.at(-1)?.term.token ?? 0n)
  clock.resume()
  expect(() => first.term.ensureValid()).toThrow(TermEndedError)
  table.write(first.term.token)
  expect(table.refused).toEqual([first.term.token])

  const stopped = world.get('b').election('report').stop()
  await world.soon(stopped)
  await oracle.pass(LEASE)
  expect(oracle.leader).toBe('a')
  expect(oracle.terms.at(-1)?.term.token).toBeGreaterThan(first.term.token)
  expect(first.term.isValid).toBe(false)
})

test('three leases at a breakpoint: session, elections, partitions and locks come back without a call by the user', async ({
  world,
}) => {
  const clock = world.time.clock()
  const simba = world.client('a', { clock })
  const oracle = new Oracle(world)
  simba.election('report').start({ onElected: (term) => oracle.watch('a', term) })
  const group = simba.group('billing', { partitions: 4 })
  const running = new Set<number>()
  const groupTask = group.runWhileLeader(async (term, partition) => {
    running.add(partition)
    await new Promise((resolve) => term.signal.addEventListener('abort', resolve))
    running.delete(partition)
  })
  await world.time.advance(RENEW)
  const before = simba.snapshot().session.id
  clock.pause()
  await world.time.advance(3 * LEASE)
  clock.resume()
  await oracle.pass(LEASE)
  expect(simba.snapshot().session).toMatchObject({ state: 'LIVE' })
  expect(simba.snapshot().session.id).not.toBe(before)
  expect(oracle.leader).toBe('a')
  expect([...running].sort()).toEqual([0, 1, 2, 3])
  expect(groupTask.partitions()).toEqual([0, 1, 2, 3])
  expect(await world.soon(simba.lock('order').tryAcquire())).toMatchObject({ isValid: true })
})

test('asleep for 84 minutes: the term has ended, nothing spins, and a schedule runs once, not 84 times', async ({
  world,
}) => {
  const simba = world.client('a')
  const starts: number[] = []
  simba.election('report').schedule(Schedule.fixedRate('1m'), async () => {
    starts.push(world.time.now())
  })
  await world.time.advance(30_000)
  const { term } = simba.election('report')
  expect(starts).toHaveLength(1)
  const calls = world.calls.length
  world.time.jump(84 * 60_000)
  expect(term?.isValid).toBe(false)
  await world.time.advance(1_000)
  expect(world.calls.length - calls).toBeLessThan(10)
  expect(starts).toHaveLength(2)
})
