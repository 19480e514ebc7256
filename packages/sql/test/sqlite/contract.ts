import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leaseBackendSpec } from '@simba/tck'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { SqlLeaseBackend } from '../../src/index.js'
import { builtInDrivers, drivers, type TestDatabase } from './databases.js'

/** Runs the contract suite with one driver; each backend has a connection of its own to one file. */
export function sqliteContract(driver: string): void {
  let folder: string
  const opened = new Map<object, TestDatabase>()

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'simba-sql-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const connect = async () => {
    const database = { ...drivers, ...builtInDrivers }[driver]?.(join(folder, 'shared.db'))
    if (database === undefined) throw new Error(`no driver ${driver}`)
    const backend = SqlLeaseBackend.sqlite(database, { purgeInterval: '50ms' })
    await backend.createSchema()
    opened.set(backend, database)
    return backend
  }
  leaseBackendSpec({
    name: `sqlite with ${driver}`,
    runner: { describe, it },
    create: connect,
    connect,
    dispose: (backend) => void opened.get(backend)?.close(),
    capabilities: { hints: true, inspect: true },
    leaseMs: 300,
  })
}
