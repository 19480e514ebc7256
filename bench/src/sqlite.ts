/** SQLite: a lease taken and given back, beside bare transactions that write the same; and the way of a release to a process that waits. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { SqlLeaseBackend } from '@simba/sql'
import { type Measure, median } from './measure.js'

const PAIRS = 2_000

export async function sqlite(): Promise<readonly Measure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'simba-bench-'))
  try {
    return [await pairs(join(folder, 'pairs.db')), await handover()]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function pairs(path: string): Promise<Measure> {
  const call = { signal: new AbortController().signal, timeoutMs: 5_000 }
  const backend = SqlLeaseBackend.sqlite(new DatabaseSync(path))
  await backend.createSchema()
  const session = {
    ...(await backend.openSession({ leaseMs: 600_000, metadata: '' }, call)),
    leaseMs: 600_000,
  }
  const own = async () => {
    const began = performance.now()
    for (let index = 0; index < PAIRS; index++) {
      const reply = await backend.acquire(session, 'x', call)
      if (reply.kind !== 'granted') throw new Error(`it is ${reply.kind}`)
      await backend.release(session, 'x', reply.token, call)
    }
    return (PAIRS * 1000) / (performance.now() - began)
  }
  const bareDatabase = new DatabaseSync(path)
  bareDatabase.exec('pragma synchronous = full')
  const take = bareDatabase.prepare(
    "update simba_lease set token = token + 1, session_id = ? where name = 'x'",
  )
  const free = bareDatabase.prepare(
    "update simba_lease set session_id = '' where name = 'x' and session_id = ?",
  )
  const bare = async () => {
    const began = performance.now()
    for (let index = 0; index < PAIRS; index++) {
      for (const statement of [take, free]) {
        bareDatabase.exec('begin immediate')
        statement.run(session.id)
        bareDatabase.exec('commit')
      }
      await undefined
    }
    return (PAIRS * 1000) / (performance.now() - began)
  }
  await own()
  await bare()
  const owns: number[] = []
  const ratio = await median(7, async () => {
    const [one, other] = [await own(), await bare()]
    owns.push(one)
    return one / other
  })
  const value = owns.sort((a, b) => a - b)[Math.floor(owns.length / 2)] ?? 0
  return {
    bench: 'sqlite',
    measure: 'acquire and release, pairs in one process',
    value,
    unit: '1/s',
    baseline: value / ratio,
    ratio,
    goal: 'at least 0.6 × two bare transactions that write the same',
    met: ratio >= 0.6,
  }
}

async function handover(): Promise<Measure> {
  const script = fileURLToPath(
    new URL('../../packages/sql/test/sqlite/processes/handover.mjs', import.meta.url),
  )
  const { stdout } = await promisify(execFile)(process.execPath, [script, '10', '40', '10', '--json'])
  const { p50 }: { readonly p50: number } = JSON.parse(stdout)
  return {
    bench: 'sqlite',
    measure: 'from a release to who waits, p50',
    value: p50,
    unit: 'ms',
    goal: 'at most 100',
    met: p50 <= 100,
  }
}
