/** Statements and what comes back, the same for all drivers. */
export type SqlValue = string | number | bigint | null

/** What a driver gave for a row; read with `rows.ts`. */
export type SqlRow = Readonly<Record<string, unknown>>

/** One statement with its parameters, in the dialect's own notation. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** Some drivers must know beforehand whether a statement answers with rows. */
  readonly gives: 'rows' | 'count'
}

/** The answer to a {@link Statement}: its rows, or how many rows it changed. */
export interface StatementResult {
  readonly rows: readonly SqlRow[]
  readonly count: number
}

export function query(sql: string, ...parameters: readonly SqlValue[]): Statement {
  return { sql, parameters, gives: 'rows' }
}

export function command(sql: string, ...parameters: readonly SqlValue[]): Statement {
  return { sql, parameters, gives: 'count' }
}
