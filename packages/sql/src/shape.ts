/** Which tables a database must have, and whether those that it has are those. */
import { bigintOf, textOf } from './rows.js'
import type { SqlRow } from './statement.js'
import { ConnectionTrouble } from './trouble.js'

/** A column as the database tells of it. */
export interface Column {
  readonly type: string
  /** Its place in the primary key, or 0. */
  readonly key: number
}

/** The columns that tables must have at least. A type that varies is given as all its forms. */
export type Tables = {
  readonly [table: string]: {
    readonly [column: string]: { readonly type: string | readonly string[]; readonly key: number }
  }
}

/** The tables that are there, from rows of `table_name`, `column_name`, `type` and `key` (place in the primary key, or 0). */
export type FoundTables = ReadonlyMap<string, ReadonlyMap<string, Column>>

export function foundTables(rows: readonly SqlRow[]): FoundTables {
  const found = new Map<string, Map<string, Column>>()
  for (const row of rows) {
    const table = textOf(row, 'table_name')
    const columns = found.get(table) ?? new Map<string, Column>()
    found.set(table, columns)
    columns.set(textOf(row, 'column_name'), { type: textOf(row, 'type'), key: Number(bigintOf(row, 'key')) })
  }
  return found
}

/**
 * Compares those tables that are there with those that must be. Other columns and indexes are the application's own affair, as long as
 * rows can be inserted.
 *
 * @throws ConnectionTrouble if one has another shape; it shows the DDL.
 */
export function checkShape(found: FoundTables, tables: Tables, where: string, ddl: string): void {
  const differences = Object.entries(tables).flatMap(([table, columns]) => {
    const own = found.get(table)
    if (own === undefined) return []
    return Object.entries(columns).flatMap(([column, wanted]) =>
      differs(`${table}.${column}`, own.get(column), wanted),
    )
  })
  if (differences.length > 0) {
    throw new ConnectionTrouble(
      `the tables in ${where} are not Simba's: ${differences.join('; ')}. Rename them, or give Simba a database of its own; it needs\n${ddl}`,
    )
  }
}

/** @throws ConnectionTrouble if a table is missing or of another shape; it shows the DDL. */
export function checkTables(found: FoundTables, tables: Tables, where: string, ddl: string): void {
  checkShape(found, tables, where, ddl)
  const missing = Object.keys(tables).filter((table) => !found.has(table))
  if (missing.length > 0) {
    throw new ConnectionTrouble(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not in ${where}; call createSchema() once, or run\n${ddl}`,
    )
  }
}

function differs(what: string, found: Column | undefined, wanted: Tables[string][string]): string[] {
  if (found === undefined) return [`${what} is missing`]
  const types = typeof wanted.type === 'string' ? [wanted.type] : wanted.type
  if (types.includes(found.type) && found.key === wanted.key) return []
  return [`${what} is ${describe(found)} instead of ${describe({ type: types[0] ?? '', key: wanted.key })}`]
}

function describe({ type, key }: Column): string {
  return key === 0 ? type : `${type} (primary key ${key})`
}
