import { type Clock, type LeaseBackend, Schedule, Simba } from '@simba/core'
import { MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { expect, test } from 'vitest'

const hour = 60 * 60 * 1000
const day = 24 * hour

/** The resource: it refuses a writer whose token is below one that it has seen. */
class Reports {
  readonly written: { readonly by: string; readonly token: bigint }[] = []

  write(by: string, token: bigint): boolean {
    if (token < (this.written.at(-1)?.token ?? 0n)) return false
    this.written.push({ by, token })
    return true
  }
}

/** The code under test. In production it gets a real backend, and no clock. */
function startNode(node: string, reports: Reports, backend: LeaseBackend, clock: Clock): Simba {
  const simba = new Simba({ backend, clock, leaseDuration: '1h', logger: silent })
  simba.election('report').schedule(Schedule.fixedRate('1d'), (term) => {
    reports.write(node, term.token)
  })
  return simba
}

const silent = { warn() {}, error() {} }

test('one node writes a report each day of a year, in one term', async () => {
  using time = new VirtualTime()
  const reports = new Reports()
  const simba = startNode('a', reports, new MemoryLeaseBackend({ clock: time }), time)

  await time.advance(365 * day - 1)

  expect(reports.written).toHaveLength(365)
  expect(reports.written.every(({ token }) => token === 1n)).toBe(true)
  await time.until(simba.close(), { within: hour })
})

test('a node that loses its backend is replaced, and its term has ended before', async () => {
  using time = new VirtualTime()
  const reports = new Reports()
  const backend = new MemoryLeaseBackend({ clock: time })
  const a = startNode('a', reports, backend.connect('a'), time)
  await time.settle()
  const b = startNode('b', reports, backend.connect('b'), time)
  await time.advance(hour)
  const ended = a.election('report').term?.revoked.then(() => time.now())
  const began = new Promise<number>((resolve) => {
    b.subscribe(({ type }) => type === 'Elected' && resolve(time.now()))
  })

  backend.faults.add({ client: 'a', kind: 'lose-request' })
  const [endedAt, beganAt] = await time.until(Promise.all([ended, began]), { within: 2 * hour })

  expect(endedAt).toBeLessThan(beganAt)
  expect(b.election('report').term?.token).toBe(2n)
  await time.until(Promise.all([a.close(), b.close()]), { within: hour })
})

test('a node that stood still cannot write after its successor', async () => {
  using time = new VirtualTime()
  const reports = new Reports()
  const backend = new MemoryLeaseBackend({ clock: time })
  const clock = time.clock()
  const a = startNode('a', reports, backend.connect('a'), clock)
  await time.settle()
  const b = startNode('b', reports, backend.connect('b'), time)
  await time.settle()
  const term = a.election('report').term

  clock.pause()
  await time.advance(2 * hour)

  expect(term?.isValid).toBe(false)
  expect(reports.written.at(-1)).toEqual({ by: 'b', token: 2n })
  expect(reports.write('a', term?.token ?? 0n)).toBe(false)
  clock.resume()
  await time.until(Promise.all([a.close(), b.close()]), { within: hour })
})
