export type { BetterSqliteDatabase, NodeSqliteDatabase, SqliteDatabase } from './drivers/sqlite.js'
export type { SqlOptions } from './options.js'
export { SqlLeaseBackend } from './sql-lease-backend.js'
