/** Programs that are run as processes of their own, by name; each must end by itself. With the built packages, and real time. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Schedule, Simba, SystemClock } from '@simba/core'
import { MemoryLeaseBackend } from '@simba/testing'

const backend = () => new MemoryLeaseBackend({ clock: new SystemClock() })
const quiet = { logger: { warn() {}, error() {} } }
const fast = { leaseDuration: 400, minBackoff: 20, ...quiet }

/** The memory backend's own timers (delayed messages) are not the client's. */
const resources = () => process.getActiveResourcesInfo().sort()

const programs = {
  'a client that is never used': async () => {
    new Simba({ backend: backend() })
  },

  'a client that leads, and is closed': async () => {
    const before = resources()
    const simba = new Simba({ backend: backend(), ...fast })
    simba.election('x').runWhileLeader((term) => term.revoked)
    simba.election('y').schedule(Schedule.fixedRate(10), () => {})
    const held = await simba.lock('z').acquire()
    simba.group('g', { partitions: 4 }).runWhileLeader((term) => term.revoked)
    await sleep(500)
    assert.equal(held.isValid, true)
    await simba.close()
    assert.deepEqual(resources(), before)
  },

  'clients that are closed during connect, during acquire, and twice': async () => {
    const before = resources()
    for (const prepare of [
      (simba) => void simba.ready().catch(() => {}),
      (simba) =>
        void simba
          .lock('x')
          .acquire()
          .catch(() => {}),
      (simba) => void simba.election('x').start(),
    ]) {
      const store = backend()
      store.faults.add({ kind: 'lose-request' })
      const simba = new Simba({ backend: store, ...fast })
      prepare(simba)
      void simba.close()
      await simba.close()
    }
    assert.deepEqual(resources(), before)
  },

  'calls that nobody waits for, with a backend that fails': async () => {
    const store = backend()
    const simba = new Simba({ backend: store, ...fast })
    simba.election('x').start({
      onElected() {
        throw new Error('thrown by onElected')
      },
      onRevoked: () => Promise.reject(new Error('rejected by onRevoked')),
    })
    const held = await simba.lock('l').acquire()
    const task = simba.election('t').runWhileLeader(() => Promise.reject(new Error('rejected by the work')))
    simba.election('s').schedule(Schedule.fixedDelay(5), () => {
      throw new Error('thrown by a run')
    })
    simba.subscribe(() => {
      throw new Error('thrown by a listener')
    })
    await sleep(50)
    for (const kind of ['fail-before', 'fail-after', 'lose-request', 'lose-reply']) {
      const off = store.faults.add({ kind })
      await sleep(500)
      off()
      await sleep(100)
    }
    store.faults.add({ kind: 'fail-before' })
    void held.release()
    void task.stop()
    void simba.election('x').stepDown()
    void simba.election('x').stop()
    void simba.close()
  },

  'a lease that is lost while the event loop is blocked': async () => {
    const simba = new Simba({ backend: backend(), ...fast })
    const events = []
    simba.subscribe((event) => events.push(event))
    const held = await simba.lock('x').acquire()
    const until = performance.now() + 1_000
    while (performance.now() < until);
    assert.equal(held.isValid, false, 'the first read after the block')
    assert.equal(held.remaining(), 0)
    assert.throws(() => held.ensureValid(), { code: 'SIMBA_TERM_EXPIRED' })
    await new Promise((resolve) => setTimeout(resolve, 1))
    await new Promise(setImmediate)
    assert.equal(held.signal.aborted, true, 'aborted by the end of the next timers phase')
    const blocked = events.find(({ type }) => type === 'EventLoopBlocked')
    assert.equal(blocked.cost, true)
    assert.ok(blocked.blockedMs > 500, `blocked for ${blocked.blockedMs} ms`)
    await simba.close()
  },
}

await sleep(10) // what Node does at its own start is over
await programs[process.argv[2]]()
