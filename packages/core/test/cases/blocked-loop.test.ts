/** A computation that does not let the event loop turn: real time, since what is asked is what Node.js does after it. */
import { Simba, type SimbaEvent, SystemClock, type Term } from '@simba/core'
import { MemoryLeaseBackend } from '@simba/testing'
import { expect, onTestFinished, test, vi } from 'vitest'

const LEASE = 600

test('a leader that computes for two leases: its first look says that it has ended, its signal aborts in the next timers phase, an event says how long it took, and it leads by a new term', async () => {
  const backend = new MemoryLeaseBackend({ clock: new SystemClock() })
  const simba = new Simba({
    backend,
    leaseDuration: LEASE,
    minBackoff: 20,
    logger: { warn() {}, error() {} },
  })
  onTestFinished(() => simba.close({ force: true }))
  const events: SimbaEvent[] = []
  simba.subscribe((event) => events.push(event))
  const seen: unknown[] = []
  const terms: Term[] = []
  simba.election('report').runWhileLeader(async (term) => {
    terms.push(term)
    if (terms.length > 1) return
    seen.push(term.isValid, term.signal.aborted)
    for (const end = performance.now() + 2 * LEASE; performance.now() < end; );
    seen.push(term.isValid)
    await new Promise((resolve) => setTimeout(resolve, 1))
    await new Promise((resolve) => setImmediate(resolve)) // right after the timers of that turn
    seen.push(term.signal.aborted)
  })
  await vi.waitFor(() => expect(terms).toHaveLength(2), { timeout: 10_000 })

  expect(seen).toEqual([true, false, false, true])
  const told = events.findIndex((event) => event.type === 'EventLoopBlocked' && event.cost)
  expect(events[told]).toHaveProperty(
    'blockedMs',
    expect.toSatisfy((ms) => ms > LEASE),
  )
  expect(told).toBeLessThan(events.findIndex(({ type }) => type === 'Revoked'))
  const [first, second] = terms
  expect(second?.token).toBeGreaterThan(first?.token ?? 0n)
  expect(first?.isValid).toBe(false)
})
