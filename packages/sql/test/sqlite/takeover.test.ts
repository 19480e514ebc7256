/** Real processes that follow one another: after a crash by the lease's end, after an orderly stop at once. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Simba } from '@simba/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SqlLeaseBackend } from '../../src/index.js'
import { openDatabase, temporaryFolder } from './databases.js'
import { startChild } from './processes/child.mjs'

/** A process that leads, with leases of this length, and a candidate here. */
async function leaderAndCandidate(leaseDuration: `${number}s`) {
  const path = `${temporaryFolder()}/shared.db`
  const leader = startChild('leader.mjs', path, leaseDuration)
  onTestFinished(() => leader.stop())
  const token = tokenIn(await leader.hear())

  const simba = new Simba({ backend: SqlLeaseBackend.sqlite(openDatabase(path)), leaseDuration })
  onTestFinished(() => simba.close({ force: true }))
  const election = simba.election('report')
  let follows = false
  simba.subscribe(({ type }) => {
    if (type === 'SessionOpened') follows = true
  })
  election.start()
  await vi.waitFor(() => expect(follows).toBe(true), { timeout: 10_000 })
  await vi.waitFor(async () => expect((await election.holder())?.token).toBe(token), { timeout: 10_000 })
  const leads = () =>
    vi.waitFor(() => expect(election.term?.isValid).toBe(true), { timeout: 20_000, interval: 5 })
  return { leader, token, election, leads }
}

function tokenIn(said: unknown): bigint {
  if (typeof said === 'object' && said !== null && 'token' in said) return BigInt(String(said.token))
  throw new Error(`expected a token, but heard ${JSON.stringify(said)}`)
}

test('when a leader is killed, another process takes over with a larger token', async () => {
  const { leader, token, election, leads } = await leaderAndCandidate('1s')
  expect(election.term).toBeUndefined()
  leader.kill()
  await leads()
  expect(election.term?.token).toBe(token + 1n)
}, 40_000)

test('when a leader stops in order, another process leads long before the lease would have ended', async () => {
  const { leader, token, election, leads } = await leaderAndCandidate('30s')
  leader.say({ close: true })
  const stopping = performance.now()
  await leads()
  // Trying again by itself, or the end of the lease, would take many seconds.
  expect(performance.now() - stopping).toBeLessThan(2_000)
  expect(election.term?.token).toBe(token + 1n)
}, 40_000)

test('half of the hints after a release reach other processes within 100 ms', async () => {
  const script = fileURLToPath(new URL('processes/handover.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, '3', '15', '0', '--json'])
  expect(JSON.parse(stdout).p50).toBeLessThan(100)
}, 60_000)
