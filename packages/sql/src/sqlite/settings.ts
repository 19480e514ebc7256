/** What Simba needs of a connection, and sets on it; the connection must be Simba's own for that reason. */

import type { SqliteHandle } from '../drivers/sqlite.js'
import { numberOf, textOf } from '../rows.js'
import { query, type SqlRow } from '../statement.js'
import { ConnectionTrouble } from '../trouble.js'
import { FileIdentity } from './file-identity.js'

/**
 * How long SQLite itself may wait for the file, blocking the event loop: as good as not at all. Not 0, so that a connection that was set
 * up here can be told from one that the application has closed and opened anew.
 */
const BUSY_TIMEOUT_MS = 1

/** `pragma synchronous`: a commit is on the disk before it is answered. More than that is fine. */
const FULL = 2

export interface Settings {
  /** Absent if the database is in memory, or otherwise of this connection alone. */
  readonly file?: FileIdentity
}

/**
 * Sets the connection up. It must not be in a transaction. It may be repeated.
 *
 * @throws ConnectionTrouble if the file is not the one opened, or cannot have WAL mode.
 */
export function setUp(handle: SqliteHandle): Settings {
  const main = handle.run(query('pragma database_list')).rows.find((row) => textOf(row, 'name') === 'main')
  const path = main === undefined ? '' : textOf(main, 'file')
  // Before anything else: a connection whose file was replaced would open the -wal of the other file.
  const file = path === '' ? undefined : new FileIdentity(path)

  handle.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`)
  const mode = textOf(pragma(handle, 'journal_mode = wal'), 'journal_mode')
  if (file !== undefined && mode !== 'wal') {
    throw new ConnectionTrouble(
      `${path} stays in journal mode ${mode}, but must be in WAL mode; open it for writing, on a local disk`,
    )
  }
  if (synchronousOf(handle) < FULL) handle.exec(`pragma synchronous = ${FULL}`)
  // Without effect but on macOS, where `fsync` alone leaves it to the disk when to write.
  handle.exec('pragma fullfsync = on')
  // Opens the -wal and -shm files.
  handle.run(query('select count(*) as tables from sqlite_master'))
  file?.rememberSideFiles()
  return file === undefined ? {} : { file }
}

/** Whether the connection is still the one that was set up, and as it was set up. */
export function isSetUp(handle: SqliteHandle): boolean {
  const timeout = numberOf(pragma(handle, 'busy_timeout'), 'timeout')
  return timeout === BUSY_TIMEOUT_MS && synchronousOf(handle) >= FULL
}

function synchronousOf(handle: SqliteHandle): number {
  return numberOf(pragma(handle, 'synchronous'), 'synchronous')
}

function pragma(handle: SqliteHandle, text: string): SqlRow {
  const [row] = handle.run(query(`pragma ${text}`)).rows
  if (row === undefined) throw new ConnectionTrouble(`"pragma ${text}" gave no answer`)
  return row
}
