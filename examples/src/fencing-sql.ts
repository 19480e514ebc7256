/**
 * A fenced write in SQL: the check of the token and the change are one statement, so that nothing comes between them, whatever the
 * isolation level. The rows counted are those *matched*: a repetition with the same values must not look like a refusal.
 */
import type { DatabaseSync } from '@photostructure/sqlite'

type Database = InstanceType<typeof DatabaseSync>

/** Makes the table, and the row that the first write needs. */
export function createLedger(database: Database): void {
  database.exec(`
    create table if not exists ledger
      (id text primary key, balance text, fencing_token integer not null default 0) strict;
    insert or ignore into ledger (id) values ('main');
  `)
}

/** Whether the write was accepted. It was not if somebody with a larger token has written before. */
export function writeBalance(database: Database, token: bigint, balance: string): boolean {
  const { changes } = database
    .prepare(`update ledger set balance = ?, fencing_token = ? where id = 'main' and fencing_token <= ?`)
    .run(balance, token, token)
  return Number(changes) === 1
}

/** Several changes: the fenced one comes first, in the same transaction, and takes all others with it if it is refused. */
export function transfer(
  database: Database,
  token: bigint,
  balance: string,
  entries: readonly string[],
): boolean {
  database.exec('begin immediate')
  try {
    if (!writeBalance(database, token, balance)) {
      database.exec('rollback')
      return false
    }
    const insert = database.prepare('insert into entry (text) values (?)')
    for (const entry of entries) insert.run(entry)
    database.exec('commit')
    return true
  } catch (error) {
    database.exec('rollback')
    throw error
  }
}

export function readBalance(database: Database): string | undefined {
  const row = database.prepare(`select balance from ledger where id = 'main'`).get()
  const balance: unknown = row === undefined ? undefined : Reflect.get(row, 'balance')
  return typeof balance === 'string' ? balance : undefined
}
