import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import Libsql from 'libsql'
import { onTestFinished } from 'vitest'
import type { SqliteDatabase } from '../../src/index.js'

/** A database object that the test can use and close as an application would. */
export type TestDatabase = SqliteDatabase & { close(): unknown }

/** The drivers that tests run with: one of each kind of API. */
export const drivers: { readonly [name: string]: (path: string) => TestDatabase } = {
  '@photostructure/sqlite': (path) => new DatabaseSync(path),
  libsql: (path) => new Libsql(path),
}

/** What Node.js itself has from version 22.5 on; the types of an earlier one do not know it. */
interface BuiltIn {
  readonly DatabaseSync: new (path: string) => TestDatabase
}

function isBuiltIn(module: unknown): module is BuiltIn {
  return typeof module === 'object' && module !== null && 'DatabaseSync' in module
}

const builtIn: unknown = process.getBuiltinModule('node:sqlite')

/** The same for the driver that is part of Node.js, where it is. */
export const builtInDrivers: typeof drivers = isBuiltIn(builtIn)
  ? { 'node:sqlite': (path) => new builtIn.DatabaseSync(path) }
  : {}

/** A folder of the test's own, removed after it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'simba-sql-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Opens a database that is closed after the test. */
export function openDatabase(path: string, driver = '@photostructure/sqlite'): TestDatabase {
  const open = drivers[driver]
  if (open === undefined) throw new Error(`no driver ${driver}`)
  const database = open(path)
  onTestFinished(() => {
    try {
      database.close()
    } catch {
      // The test has closed it.
    }
  })
  return database
}
