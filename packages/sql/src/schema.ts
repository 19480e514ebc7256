/** Which tables a database must have, and whether those that it has are those. */
import { ConnectionTrouble } from './connections.js'
import type { Column, SqlDialect } from './dialect.js'
import { numberOf, textOf } from './rows.js'
import { rowsOf, type Steps } from './steps.js'

/**
 * Compares the tables that are there with those that must be. Other columns and indexes are the application's own affair, as long as
 * rows can be inserted.
 *
 * @throws ConnectionTrouble if a table is missing or of another shape; it shows the DDL.
 */
export function* checkSchema(dialect: SqlDialect, where: string): Steps<void> {
  const found = yield* checkShape(dialect, where)
  const missing = Object.keys(dialect.tables).filter((table) => !found.has(table))
  if (missing.length > 0) {
    throw new ConnectionTrouble(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not in ${where}; call createSchema() once, or run\n${dialect.ddl}`,
    )
  }
}

/**
 * Compares those tables only that are there, and gives their names.
 *
 * @throws ConnectionTrouble if one has another shape.
 */
export function* checkShape(dialect: SqlDialect, where: string): Steps<ReadonlySet<string>> {
  const found = new Map<string, Map<string, Column>>()
  for (const row of yield* rowsOf(dialect.describeColumns())) {
    const table = textOf(row, 'table_name')
    const columns = found.get(table) ?? new Map<string, Column>()
    found.set(table, columns)
    columns.set(textOf(row, 'column_name'), { type: textOf(row, 'type'), key: numberOf(row, 'key') })
  }
  const differences = Object.entries(dialect.tables).flatMap(([table, columns]) => {
    const own = found.get(table)
    if (own === undefined) return []
    return Object.entries(columns).flatMap(([column, wanted]) =>
      differs(`${table}.${column}`, own.get(column), wanted),
    )
  })
  if (differences.length > 0) {
    throw new ConnectionTrouble(
      `the tables in ${where} are not Simba's: ${differences.join('; ')}. Rename them, or give Simba a database of its own; it needs\n${dialect.ddl}`,
    )
  }
  return new Set(found.keys())
}

function differs(what: string, found: Column | undefined, wanted: Column): string[] {
  if (found === undefined) return [`${what} is missing`]
  if (found.type === wanted.type && found.key === wanted.key) return []
  return [`${what} is ${describe(found)} instead of ${describe(wanted)}`]
}

function describe({ type, key }: Column): string {
  return key === 0 ? type : `${type} (primary key ${key})`
}
