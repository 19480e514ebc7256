/** The port to a pool of PostgreSQL connections; one file in `drivers/` for each driver. */
import type { SqlRow } from '../statement.js'

/**
 * A statement that is prepared once on each connection and then executed by name. The name changes with the text, since others may share
 * the connection: processes with another version or another schema, behind a pooler.
 */
export interface Prepared {
  readonly name: string
  /** The types of its parameters. */
  readonly types: readonly string[]
  readonly text: string
}

/** The rows that a statement answers with. */
export type Rows = readonly SqlRow[]

/**
 * Every message is a transaction of its own, at the isolation level READ COMMITTED whatever the connection's default is, in which no
 * statement may take longer than the limit at the server: so each statement has a snapshot of its own, and what is given up does not
 * take effect later.
 */
export interface PostgresPool {
  /** Takes one round trip, once the statement is prepared on the connection. Arguments are literals: see `literals.ts`. */
  execute(statement: Prepared, args: readonly string[], limits: MessageLimits): Promise<Rows>
  /**
   * Statements without parameters, one after another, in one round trip; with the rows of each. Unless the rows are of no interest, each
   * statement must be one that answers with rows: some drivers drop the results of others.
   */
  script(statements: readonly string[], limits: MessageLimits): Promise<readonly Rows[]>
  /** Opens a connection that is nobody else's, for notifications. */
  listen(events: ListenEvents): Promise<Listener>
}

export interface MessageLimits {
  readonly signal: AbortSignal
  /** The longest that one statement may take at the server, in ms. */
  readonly statementMs: number
}

export interface ListenEvents {
  onNotification(channel: string, payload: string): void
  /** The connection is lost; nothing comes any more. */
  onLost(): void
}

export interface Listener {
  /** Carries out LISTEN, UNLISTEN and NOTIFY. */
  run(sql: string): Promise<void>
  close(): Promise<void>
}

/** What each message begins with. */
export function preamble(statementMs: number): string {
  return `set transaction isolation level read committed; set local statement_timeout = ${Math.max(1, Math.ceil(statementMs))}`
}

/** The statement with its arguments in place of its parameters, each of its type. */
export function inlined({ types, text }: Prepared, args: readonly string[]): string {
  return text.replaceAll(/\$(\d)/g, (_, digit: string) => {
    const index = Number(digit) - 1
    return `${args[index]}::${types[index]}`
  })
}
