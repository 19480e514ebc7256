/** What a client keeps in memory, and how often it calls the backend. */
import { Simba, SystemClock } from '@simba/core'
import { MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { heapUsed, type Measure } from './measure.js'

const IDLE = 100_000
const NAMES = 1_000_000
const MB = 2 ** 20

export async function memory(): Promise<readonly Measure[]> {
  return [await idleElection(), await manyNames(), ...(await callsPerRenewal())]
}

/** Candidates that find the lease held: what most elections of most clients are. */
async function idleElection(): Promise<Measure> {
  const backend = new MemoryLeaseBackend({ clock: new SystemClock() })
  const other = new Simba({ backend, leaseDuration: '1h' })
  // One name is held by another, the rest by nobody, who are asked for by a client that may not reach the backend.
  const simba = new Simba({
    backend: backend.connect('idle'),
    leaseDuration: '1h',
    logger: { warn() {}, error() {} },
  })
  await simba.ready()
  backend.faults.add({ on: 'acquire', client: 'idle', kind: 'fail-before' })
  const before = heapUsed()
  for (let index = 0; index < IDLE; index++) simba.election(`name.${index}`).start()
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  const bytes = (heapUsed() - before) / IDLE
  backend.faults.clear()
  await Promise.all([simba.close({ force: true }), other.close()])
  return {
    bench: 'memory',
    measure: `an idle election, of ${IDLE}`,
    value: bytes,
    unit: 'bytes',
    goal: 'at most 1,024',
    met: bytes <= 1024,
  }
}

async function manyNames(): Promise<Measure> {
  const backend = new MemoryLeaseBackend({ clock: new SystemClock() })
  const simba = new Simba({ backend, leaseDuration: '1h' })
  const lockSome = async (from: number, to: number) => {
    for (let index = from; index < to; index++) await (await simba.lock(`order.${index}`).acquire()).release()
  }
  // So many names are remembered, on purpose.
  await lockSome(0, 50_000)
  const before = heapUsed()
  await lockSome(50_000, 50_000 + NAMES)
  const grown = (heapUsed() - before) / MB
  await simba.close()
  return {
    bench: 'memory',
    measure: `growth after ${NAMES} names, one after another`,
    value: grown,
    unit: 'MB',
    goal: 'within ± 5',
    met: Math.abs(grown) <= 5,
  }
}

async function callsPerRenewal(): Promise<readonly Measure[]> {
  const measures: Measure[] = []
  for (const leases of [10, 10_000]) {
    const time = new VirtualTime({ watchdogMs: false })
    const backend = new MemoryLeaseBackend({ clock: time })
    const simba = new Simba({ backend, clock: time })
    for (let index = 0; index < leases; index++) simba.election(`name.${index}`).start()
    await time.advance(1_000)
    let calls = 0
    backend.faults.add({
      decide: () => {
        calls += 1
        return undefined
      },
    })
    const renewals = 20
    await time.advance(renewals * 5_000)
    const value = calls / renewals
    measures.push({
      bench: 'memory',
      measure: `backend calls per renewal, with ${leases} leases held`,
      value,
      unit: 'calls',
      goal: '1',
      met: value === 1,
    })
    await time.until(simba.close(), { within: 60_000 })
    time.dispose()
  }
  return measures
}
