/** SQLite: the nodes share a file. The fenced table lies in the same file, and is written over a connection of its own. */
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { SqlLeaseBackend } from '@simba/sql'
import { monotonicMs, sleep } from '../clock.js'
import type { Connection, DemoBackend, Ledger, WriteResult } from './backend.js'

const CREATE_LEDGER = `
  create table if not exists ledger (
    id integer primary key,
    fencing_token integer not null default 0,
    position integer not null default 0,
    node text not null default '',
    value integer not null default 0
  );
  insert or ignore into ledger (id) values (1);
`

// The check and the write are one statement: nothing can come between them.
const WRITE = `
  update ledger set fencing_token = ?, position = position + 1, node = ?, value = ?
  where id = 1 and fencing_token <= ?
  returning position
`

const HIGHEST = 'select fencing_token from ledger where id = 1'

/** How long a write to the ledger goes on trying while other processes write to the file. */
const BUSY_MS = 1_000

/** SQLite's own wait for the file blocks the process, which could then not renew its lease: so it is short, and the rest waits here. */
const BLOCKED_MS = 10
const PAUSE_MS = 5

export const sqlite: DemoBackend = {
  name: 'sqlite',
  place: 'one SQLite file',

  async prepare(folder) {
    const file = join(folder, 'simba.db')
    const leases = new DatabaseSync(file)
    await SqlLeaseBackend.sqlite(leases).createSchema()
    leases.close()
    const table = openLedger(file)
    table.exec(CREATE_LEDGER)
    table.close()
    return file
  },

  async connect(file): Promise<Connection> {
    const leases = new DatabaseSync(file)
    const table = openLedger(file)
    return {
      backend: SqlLeaseBackend.sqlite(leases),
      ledger: new SqliteLedger(table),
      async close() {
        leases.close()
        table.close()
      },
    }
  },
}

function openLedger(file: string): DatabaseSyncInstance {
  return new DatabaseSync(file, { timeout: BLOCKED_MS })
}

/** `SQLITE_BUSY`, or one of its extended codes. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === 5
}

class SqliteLedger implements Ledger {
  private readonly writeRow
  private readonly readHighest

  constructor(table: DatabaseSyncInstance) {
    this.writeRow = table.prepare(WRITE)
    this.readHighest = table.prepare(HIGHEST)
    this.readHighest.setReadBigInts(true)
  }

  async write(token: bigint, node: string, value: number): Promise<WriteResult> {
    const row = await this.tryFor(BUSY_MS, () => this.writeRow.get(token, node, value, token))
    if (row !== undefined) return { accepted: true, position: column(row, 'position', isNumber) }
    return { accepted: false, highest: column(this.readHighest.get(), 'fencing_token', isBigInt) }
  }

  private async tryFor(ms: number, statement: () => unknown): Promise<unknown> {
    for (const began = monotonicMs(); ; ) {
      try {
        return statement()
      } catch (error) {
        if (!isBusy(error) || monotonicMs() - began > ms) throw error
      }
      await sleep(PAUSE_MS)
    }
  }
}

function column<T>(row: unknown, name: string, is: (value: unknown) => value is T): T {
  const value =
    typeof row === 'object' && row !== null ? Object.entries(row).find(([key]) => key === name) : undefined
  if (value !== undefined && is(value[1])) return value[1]
  throw new Error(`The ledger answered without a usable column "${name}": ${String(value?.[1])}.`)
}

const isNumber = (value: unknown): value is number => typeof value === 'number'
const isBigInt = (value: unknown): value is bigint => typeof value === 'bigint'
