/** Sessions, leases and groups in an SQLite file. */
import type { CallOptions, Hint, HintSubscription } from '@simba/core'
import type { SqliteDatabase } from '../drivers/sqlite.js'
import type { Runtime } from '../runtime.js'
import type { SqlStore } from '../store.js'
import { type SqliteConnection, sqliteConnection } from './connection.js'
import { explain } from './errors.js'
import * as operations from './operations.js'
import { ddl } from './statements.js'
import type { Work } from './work.js'

/** @throws ConfigError if it is no database object that is known. */
export function sqliteStore(database: SqliteDatabase, runtime: Runtime): SqlStore {
  return storeOf(sqliteConnection(database, runtime))
}

function storeOf(connection: SqliteConnection): SqlStore {
  const write = <T>(call: CallOptions, work: Work<T>) => connection.transaction('write', work, call)
  const read = <T>(call: CallOptions, work: Work<T>) => connection.transaction('read', work, call)
  return {
    name: 'sqlite',
    ddl,
    openSession: (id, leaseMs, metadata, call) =>
      write(call, () => operations.openSession(id, leaseMs, metadata)),
    keepAlive: (id, leaseMs, call) => write(call, (announce) => operations.keepAlive(announce, id, leaseMs)),
    closeSession: (id, call) => write(call, (announce) => operations.closeSession(announce, id)),
    acquire: (id, name, call) => write(call, () => operations.acquire(id, name)),
    release: (id, name, token, call) =>
      write(call, (announce) => operations.release(announce, id, name, token)),
    join: (id, group, call) => write(call, (announce) => operations.join(announce, id, group)),
    leave: (id, group, call) => write(call, (announce) => operations.leave(announce, id, group)),
    members: (group, call) => read(call, () => operations.members(group)),
    inspect: (scope, call) => read(call, () => operations.inspect(scope)),
    purgeExpired: (limit, call) => write(call, () => operations.purgeExpired(limit)),
    createSchema: (call) => connection.createSchema(call),
    hints: (listener: (hint: Hint) => void): HintSubscription => connection.hints(listener),
    explain,
  }
}
