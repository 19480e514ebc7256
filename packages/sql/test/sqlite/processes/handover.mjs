/**
 * Lets processes wait for a lease that this one holds, and tells how long after its release their hints came, and how much CPU time they
 * use while nothing happens but that each renews its session every 5 s:
 *
 *     npx tsc -b packages/sql && node packages/sql/test/sqlite/processes/handover.mjs [waiters] [releases] [idle seconds] [--json]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from './child.mjs'
import { call, openBackend } from './open.mjs'

const [waiters = '10', releases = '40', idleSeconds = '6'] = process.argv
  .slice(2)
  .filter((argument) => argument !== '--json')
const folder = mkdtempSync(join(tmpdir(), 'simba-handover-'))
const path = join(folder, 'shared.db')
const { backend, database } = await openBackend(path)
const session = { ...(await backend.openSession({ leaseMs: 60_000, metadata: '{}' }, call)), leaseMs: 60_000 }
const name = 'report'
let { token } = await backend.acquire(session, name, call)
const children = Array.from({ length: Number(waiters) }, () => startChild('waiter.mjs', path, name))
await Promise.all(children.map(({ hear }) => hear()))
await delay(500)

const latencies = []
for (let i = 0; i < Number(releases); i++) {
  await delay(60)
  for (const { forget } of children) forget()
  const heard = children.map(({ hear }) => hear())
  await backend.release(session, name, token, call)
  const releasedAt = Number(process.hrtime.bigint()) / 1e6
  for (const { at } of await Promise.all(heard)) latencies.push(at - releasedAt)
  token = (await backend.acquire(session, name, call)).token
}
latencies.sort((a, b) => a - b)

const cpuMs = async () => {
  for (const { say } of children) say({ cpu: true })
  let total = 0
  for (const { hear } of children) {
    let answer
    do answer = await hear()
    while (answer.cpuMs === undefined)
    total += answer.cpuMs
  }
  return total
}
await delay(1000)
const before = await cpuMs()
const began = performance.now()
for (let second = 0; second < Number(idleSeconds); second++) {
  if (second % 5 === 0) await backend.keepAlive(session, call)
  await delay(1000)
}
const share = ((await cpuMs()) - before) / (performance.now() - began)

await Promise.all(children.map(({ stop }) => stop()))
database.close()
rmSync(folder, { recursive: true, force: true })

const result = {
  p50: latencies[Math.floor(latencies.length / 2)],
  p99: latencies[Math.floor(latencies.length * 0.99)],
  worst: latencies.at(-1),
  cpuShare: share,
}
if (process.argv.includes('--json')) console.log(JSON.stringify(result))
else {
  console.log(`hints after a release: p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms`)
  console.log(`${waiters} waiting processes together: ${(100 * share).toFixed(2)} % of a core`)
}
