/** Schedules when leaders die: what is due is run by the next one, within a bound that can be told beforehand. */
import { Schedule } from '@simba/core'
import { expect } from 'vitest'
import { LEASE, RENEW, test } from '../api/world.js'

const PERIOD = 60_000
/** A lease until the session expires, and the longest wait of a candidate (no hint comes of a crash). */
const TAKEOVER = LEASE + RENEW

test('a leader that dies just before a run is due: the next leader runs within the takeover time and a period, 200 times', async ({
  world,
}) => {
  world.mayLeaveSessions = true
  const runs: { readonly node: string; readonly at: number }[] = []
  const join = (node: string) => {
    world
      .client(node)
      .election('report')
      .schedule(Schedule.fixedRate(PERIOD), async () => void runs.push({ node, at: world.time.now() }))
  }
  join('n0')
  await world.time.advance(1)
  let word = 1
  for (let death = 1; death <= 200; death += 1) {
    join(`n${death}`)
    await world.time.advance(RENEW)
    word = (Math.imul(word, 1664525) + 1013904223) | 0
    const before = runs.at(-1)?.at ?? 0
    // Up to half a second before the next run, at any phase of the renewals.
    await world.time.advance(Math.max(0, before + PERIOD - ((word >>> 16) % 500) - 1 - world.time.now()))
    const diedAt = world.time.now()
    const victim = `n${death - 1}`
    world.fault({ client: victim, kind: 'lose-request' })
    await world.time.advance(TAKEOVER + PERIOD)
    const next = runs.find(({ node, at }) => node === `n${death}` && at >= diedAt)
    expect(next, `a run after ${victim} died at ${diedAt}`).toBeDefined()
    expect(
      world.published('Elected', `n${death}`),
      `what tells of the takeover after ${victim}`,
    ).toHaveLength(1)
    void world.get(victim).close({ force: true })
  }
})

test('setting the wall clock moves no run of a fixed rate', async ({ world }) => {
  const starts: number[] = []
  world
    .client()
    .election('report')
    .schedule(Schedule.fixedRate(PERIOD), async () => void starts.push(world.time.now()))
  const wall = Date.now
  try {
    for (const hour of [1, -2, 24]) {
      Date.now = () => wall() + hour * 3_600_000
      await world.time.advance(2 * PERIOD)
    }
  } finally {
    Date.now = wall
  }
  expect(starts).toEqual(Array.from({ length: 7 }, (_, run) => run * PERIOD))
})
