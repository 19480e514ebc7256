/** A machine that sleeps, as its process sees it: the wall clock has moved, the monotonic one and all timers have not. */
import { type CancelTimer, Schedule, SystemClock, type TimeSources } from '@simba/core'
import { expect } from 'vitest'
import { LEASE, RENEW, test, type World } from '../api/world.js'
import { Oracle } from './oracle.js'

/** The clocks of a laptop. Nothing tells the process of its sleep. */
class Laptop implements TimeSources {
  timersFired = 0
  private sleptMs = 0

  constructor(private readonly world: World) {}

  sleep(ms: number): void {
    this.world.time.jump(ms, { timers: 'delayed' })
    this.sleptMs += ms
  }

  monotonic(): number {
    return this.world.time.now() - this.sleptMs
  }

  wall(): number {
    return this.world.time.wallNow()
  }

  boot(): number {
    return this.world.time.now()
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    return this.world.time.setTimer(() => {
      this.timersFired += 1
      callback()
    }, delayMs)
  }
}

const MINUTE = 60_000

test('asleep for 84 minutes: the term has ended at the first look, the missed minutes are made up for by one run, and few steps are taken', async ({
  world,
}) => {
  const laptop = new Laptop(world)
  const simba = world.client('a', { clock: new SystemClock(laptop) })
  const election = simba.election('report')
  const runs: { readonly at: number; readonly token: bigint }[] = []
  election.schedule(Schedule.fixedRate('1m'), (term) => {
    runs.push({ at: world.time.now(), token: term.token })
  })
  await world.time.advance(MINUTE / 2)
  const { term } = election
  expect(term?.isValid).toBe(true)
  expect(runs).toHaveLength(1)

  laptop.sleep(84 * MINUTE)
  expect(term?.isValid).toBe(false)
  expect(() => term?.ensureValid()).toThrow()
  const before = { calls: world.calls.length, timers: laptop.timersFired }
  await world.time.advance(LEASE)
  expect(world.calls.length - before.calls).toBeLessThan(10)
  expect(laptop.timersFired - before.timers).toBeLessThan(10)
  expect(runs).toHaveLength(2)
  expect(runs[1]?.token).toBeGreaterThan(runs[0]?.token ?? 0n)

  await world.time.advance(4.5 * MINUTE - LEASE)
  expect(runs.slice(1).map(({ at }) => at - (runs[1]?.at ?? 0))).toEqual(
    [0, 1, 2, 3, 4].map((minutes) => minutes * MINUTE),
  )
})

test('asleep while another leads: a look at any time finds one leader, and the sleeper competes again without a call by the user', async ({
  world,
}) => {
  const laptop = new Laptop(world)
  const oracle = new Oracle(world)
  oracle.compete('a', 'report', { clock: new SystemClock(laptop) })
  await world.time.settle()
  oracle.compete('b', 'report')
  await oracle.pass(RENEW + 1)
  expect(oracle.leader).toBe('a')

  laptop.sleep(84 * MINUTE)
  oracle.look()
  expect(oracle.leader).toBeUndefined()
  await oracle.pass(LEASE, 10)
  expect(oracle.leader).toBeDefined()
  const stopped = world
    .get(oracle.leader ?? '')
    .election('report')
    .stop()
  const other = oracle.leader === 'a' ? 'b' : 'a'
  await world.soon(stopped)
  await oracle.pass(RENEW, 10)
  expect(oracle.leader).toBe(other)
})
