/** Reads columns, whatever a driver makes of their types: integers may come as number, bigint or decimal text. */
import type { SqlRow } from './statement.js'

export function textOf(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw unusable(column, value, 'a text')
}

export function bigintOf(row: SqlRow, column: string): bigint {
  const value = row[column]
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  throw unusable(column, value, 'a whole number, exact')
}

/** For durations and counts, which a double holds. */
export function numberOf(row: SqlRow, column: string): number {
  return Number(bigintOf(row, column))
}

function unusable(column: string, value: unknown, wanted: string): Error {
  return new TypeError(
    `the column ${column} came as ${typeof value} ${String(value)}; the driver must give ${wanted}`,
  )
}
