/**
 * The SQLite drivers for Node.js, by their shape: this package depends on none of them. All are synchronous.
 *
 * Statements are prepared for each use. That costs microseconds beside a commit, and a statement that is kept could outlive its
 * connection, and then work on a file that the application has closed and opened anew.
 */
import { ConfigError } from '@simba/core'
import type { SqlRow, SqlValue, Statement, StatementResult } from '../statement.js'

/** What `better-sqlite3` and `libsql` have. */
export interface BetterSqliteDatabase {
  readonly open: boolean
  readonly inTransaction: boolean
  exec(sql: string): unknown
  prepare(sql: string): {
    all(...parameters: SqlValue[]): unknown[]
    run(...parameters: SqlValue[]): { readonly changes: number | bigint }
    safeIntegers(on: boolean): unknown
  }
}

/** What `node:sqlite` and `@photostructure/sqlite` have. */
export interface NodeSqliteDatabase {
  open(): void
  /** Absent in early versions. */
  readonly isOpen?: boolean
  /** Absent in early versions. */
  readonly isTransaction?: boolean
  exec(sql: string): unknown
  prepare(sql: string): {
    all(...parameters: SqlValue[]): unknown[]
    run(...parameters: SqlValue[]): { readonly changes: number | bigint }
    setReadBigInts(on: boolean): unknown
  }
}

/** A database object of one of the drivers known. */
export type SqliteDatabase = BetterSqliteDatabase | NodeSqliteDatabase

/** One open connection, the same for all drivers. Errors are the driver's own. */
export interface SqliteHandle {
  isOpen(): boolean
  /** Whether a transaction is open, as far as the driver tells; otherwise `begin` fails if one is. */
  inTransaction(): boolean
  exec(sql: string): void
  run(statement: Statement): StatementResult
}

const WHAT_TO_GIVE =
  'Give it an open database of better-sqlite3 or libsql ' +
  "(`new Database('simba.db')`), or of node:sqlite or @photostructure/sqlite (`new DatabaseSync('simba.db')`)."

/** @throws ConfigError if it is none of the databases known, or one that is closed or asynchronous. */
export function sqliteHandle(database: SqliteDatabase): SqliteHandle {
  // What comes from JavaScript, or through a cast, may be anything.
  const given: unknown = database
  const refuse = (what: string): never => {
    throw new ConfigError(`SqlLeaseBackend.sqlite() was given ${what}. ${WHAT_TO_GIVE}`)
  }
  if (!isBetterSqlite(given) && !isNodeSqlite(given)) return refuse(describe(given))
  const handle = isBetterSqlite(given) ? betterSqliteHandle(given) : nodeSqliteHandle(given)
  if (!handle.isOpen()) return refuse(`${describe(given)} that is closed`)
  if (isAsynchronous(given)) return refuse(`${describe(given)} whose methods give promises`)
  return handle
}

/** Such as that of `libsql/promise`, which has the shape of a synchronous one. */
function isAsynchronous(database: SqliteDatabase): boolean {
  let statement: unknown
  try {
    // It is compiled only, for which SQLite does not look at the file.
    statement = database.prepare('select 1')
  } catch {
    return false // the first call tells what is wrong
  }
  if (typeof statement !== 'object' || statement === null || !('then' in statement)) return false
  Promise.resolve(statement).catch(() => {}) // nobody else is going to hear of it
  return true
}

function betterSqliteHandle(database: BetterSqliteDatabase): SqliteHandle {
  return {
    isOpen: () => database.open,
    inTransaction: () => database.inTransaction,
    exec: (sql) => void database.exec(sql),
    run({ sql, parameters, gives }) {
      const statement = database.prepare(sql)
      if (gives === 'count') return { rows: [], count: Number(statement.run(...parameters).changes) }
      statement.safeIntegers(true)
      return rowsResult(statement.all(...parameters))
    },
  }
}

function nodeSqliteHandle(database: NodeSqliteDatabase): SqliteHandle {
  return {
    isOpen: () => database.isOpen ?? true,
    inTransaction: () => database.isTransaction ?? false,
    exec: (sql) => void database.exec(sql),
    run({ sql, parameters, gives }) {
      const statement = database.prepare(sql)
      if (gives === 'count') return { rows: [], count: Number(statement.run(...parameters).changes) }
      statement.setReadBigInts(true)
      return rowsResult(statement.all(...parameters))
    },
  }
}

function rowsResult(rows: readonly unknown[]): StatementResult {
  return { rows: rows.filter(isRow), count: 0 }
}

function isRow(row: unknown): row is SqlRow {
  return typeof row === 'object' && row !== null
}

function isBetterSqlite(given: unknown): given is BetterSqliteDatabase {
  return (
    hasStatements(given) &&
    'open' in given &&
    typeof given.open === 'boolean' &&
    // Not read, only looked for: libsql aborts the process if it is read once the database is closed.
    'inTransaction' in given
  )
}

function isNodeSqlite(given: unknown): given is NodeSqliteDatabase {
  return hasStatements(given) && 'open' in given && typeof given.open === 'function'
}

function hasStatements(given: unknown): given is object {
  return (
    typeof given === 'object' &&
    given !== null &&
    'prepare' in given &&
    typeof given.prepare === 'function' &&
    'exec' in given &&
    typeof given.exec === 'function'
  )
}

function describe(given: unknown): string {
  if (typeof given === 'string') return `the text ${JSON.stringify(given)}`
  if (typeof given === 'function')
    return `the ${given.name === '' ? 'function' : `class or function ${given.name}`}`
  if (typeof given !== 'object' || given === null) return String(given)
  const name: unknown = given.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `a ${name}` : 'an object'
}
