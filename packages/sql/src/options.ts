import { ConfigError, type Duration, toMs } from '@simba/core'

/** Options of every `SqlLeaseBackend`. */
export interface SqlOptions {
  /**
   * How often, at most, this backend deletes sessions that have expired without being closed; default `'1m'`. Shorter keeps the tables
   * smaller where processes crash a lot, and costs an index lookup each time.
   */
  readonly purgeInterval?: Duration

  /**
   * The longest that one statement may take; default `'5s'`. All calls but `createSchema` and `purgeExpired` are bounded by their
   * `timeoutMs` too.
   */
  readonly queryTimeout?: Duration
}

/** Options of a backend on a database server. */
export interface ServerOptions extends SqlOptions {
  /** The schema (MySQL, MariaDB: the database) with the tables. Default: where the connection finds them. */
  readonly schema?: string
}

/** Options of a backend in PostgreSQL. */
export interface PostgresOptions extends ServerOptions {
  /**
   * Whether to listen for releases and changes of groups, on one connection besides the pool's; default `true`. Without, a waiting node
   * takes over at its next attempt.
   */
  readonly hints?: boolean
}

export interface ResolvedOptions {
  readonly purgeIntervalMs: number
  readonly queryTimeoutMs: number
  readonly schema: string | undefined
  readonly hints: boolean
}

export const SQLITE_OPTIONS: readonly string[] = ['purgeInterval', 'queryTimeout']
export const SERVER_OPTIONS: readonly string[] = [...SQLITE_OPTIONS, 'schema']
export const POSTGRES_OPTIONS: readonly string[] = [...SERVER_OPTIONS, 'hints']

/** @throws ConfigError if one of them cannot be used, or is not among those known. */
export function resolveOptions(options: PostgresOptions, known: readonly string[]): ResolvedOptions {
  const names = known.join(', ')
  if (typeof options !== 'object' || options === null) {
    throw new ConfigError(
      `SqlLeaseBackend takes its options as an object: { ${names} }. Given was ${String(options)}.`,
    )
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new ConfigError(`SqlLeaseBackend has no option "${key}"; there are: ${names}.`)
    }
  }
  const { purgeInterval = '1m', queryTimeout = '5s', schema, hints = true } = options
  if (schema !== undefined && (typeof schema !== 'string' || schema === '' || /\0/.test(schema))) {
    throw new ConfigError(
      `schema is ${JSON.stringify(schema)}; give the name of the schema with the tables, or leave it out.`,
    )
  }
  if (typeof hints !== 'boolean') throw new ConfigError(`hints is ${String(hints)}; give true or false.`)
  return {
    purgeIntervalMs: toMs(purgeInterval, 'purgeInterval', 1),
    queryTimeoutMs: toMs(queryTimeout, 'queryTimeout', 1),
    schema,
    hints,
  }
}
