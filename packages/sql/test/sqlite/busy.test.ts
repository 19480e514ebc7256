/** A file that others write to: who waits blocks nobody, and nobody starves. Real processes, and the built package in them. */
import { execFile } from 'node:child_process'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Simba } from '@simba/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SqlLeaseBackend } from '../../src/index.js'
import { openDatabase, temporaryFolder } from './databases.js'
import { startChild } from './processes/child.mjs'

const call = { signal: new AbortController().signal, timeoutMs: 20_000 }

/** A foreign process that can hold the file. */
async function foreigner(path: string) {
  const child = startChild('hold.mjs', path)
  onTestFinished(() => child.stop())
  await child.hear()
  return {
    hold: async (hold: boolean) => {
      child.say({ hold })
      await child.hear()
    },
  }
}

test('a call waits for a foreign write transaction within its time, without blocking the event loop', async () => {
  const path = `${temporaryFolder()}/shared.db`
  const other = await foreigner(path)
  const backend = SqlLeaseBackend.sqlite(openDatabase(path))
  await other.hold(true)

  // A stall of the machine hits one wait; one of ours would hit them all.
  const longest: number[] = []
  for (let wait = 0; wait < 4; wait += 1) {
    const loop = monitorEventLoopDelay({ resolution: 1 })
    loop.enable()
    const failed = backend.openSession({ leaseMs: 1_000, metadata: '' }, { ...call, timeoutMs: 300 })
    await expect(failed).rejects.toThrow(
      /gave up after \d+ ms: another connection was writing to the file all the time/,
    )
    loop.disable()
    longest.push(loop.max / 1e6)
  }
  expect(Math.min(...longest)).toBeLessThan(50)

  const opening = backend.openSession({ leaseMs: 1_000, metadata: '' }, call)
  await other.hold(false)
  await expect(opening).resolves.toMatchObject({ remainingMs: 1_000 })
})

test('a call that was given up takes no effect later', async () => {
  const path = `${temporaryFolder()}/shared.db`
  const other = await foreigner(path)
  const backend = SqlLeaseBackend.sqlite(openDatabase(path))
  const opened = await backend.openSession({ leaseMs: 60_000, metadata: '' }, call)
  const session = { ...opened, leaseMs: 60_000 }
  await other.hold(true)
  const giveUp = new AbortController()
  const acquiring = backend.acquire(session, 'a', { ...call, signal: giveUp.signal })
  const reason = new Error('given up')
  giveUp.abort(reason)
  await expect(acquiring).rejects.toBe(reason)
  await other.hold(false)
  expect(await backend.keepAlive(session, call)).toMatchObject({ owned: [] })
})

test('nothing is decided on what was read before a foreign write transaction is over', async () => {
  const path = `${temporaryFolder()}/shared.db`
  const other = await foreigner(path)
  const backend = SqlLeaseBackend.sqlite(openDatabase(path))
  const open = async () => ({
    ...(await backend.openSession({ leaseMs: 60_000, metadata: '' }, call)),
    leaseMs: 60_000,
  })
  const [holder, candidate] = [await open(), await open()]
  await backend.acquire(holder, 'a', call)
  await other.hold(true)
  // That the lease is held could be read without any lock.
  await expect(backend.acquire(candidate, 'a', { ...call, timeoutMs: 100 })).rejects.toThrow(/gave up after/)
  await other.hold(false)
  expect(await backend.acquire(candidate, 'a', call)).toEqual({ kind: 'held', holder: holder.id })
})

test('a leader bears a writer that is shorter than its lease, and not one that is longer; then it leads again', async () => {
  const path = `${temporaryFolder()}/shared.db`
  const other = await foreigner(path)
  const simba = new Simba({
    backend: SqlLeaseBackend.sqlite(openDatabase(path)),
    leaseDuration: 1_500,
    logger: { warn() {}, error() {} },
  })
  onTestFinished(() => simba.close({ force: true }))
  const events: string[] = []
  simba.subscribe(({ type }) => events.push(type))
  const election = simba.election('report')
  election.start()
  await vi.waitFor(() => expect(election.term?.isValid).toBe(true), { timeout: 10_000 })
  const first = election.term

  await other.hold(true)
  await vi.waitFor(() => expect(events).toContain('SessionSuspended'), { timeout: 10_000 })
  await other.hold(false)
  await vi.waitFor(() => expect(events).toContain('SessionResumed'), { timeout: 10_000 })
  expect(first?.isValid).toBe(true)

  await other.hold(true)
  expect(await first?.revoked).toBe('DEADLINE_PASSED')
  await other.hold(false)
  await vi.waitFor(() => expect(election.term?.isValid).toBe(true), { timeout: 10_000 })
  expect(election.term?.token).toBeGreaterThan(first?.token ?? 0n)
}, 40_000)

test('of four processes that hammer one file, none starves', async () => {
  const script = fileURLToPath(new URL('processes/fairness.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, '4', '4', '--json'])
  const shares: readonly { readonly share: number }[] = JSON.parse(stdout)
  expect(shares).toHaveLength(4)
  for (const { share } of shares) expect(share).toBeGreaterThan(0.05)
}, 60_000)
