import { ConfigError, type Duration, toMs } from '@simba/core'

/** Options of every `SqlLeaseBackend`. */
export interface SqlOptions {
  /**
   * How often, at most, this backend deletes sessions that have expired without being closed; default `'1m'`. Shorter keeps the tables
   * smaller where processes crash a lot, and costs an index lookup each time.
   */
  readonly purgeInterval?: Duration

  /**
   * The time limit of calls that are given none: `createSchema` and `purgeExpired`; default `'5s'`. All others are bounded by their
   * `timeoutMs`.
   */
  readonly queryTimeout?: Duration
}

export interface ResolvedOptions {
  readonly purgeIntervalMs: number
  readonly queryTimeoutMs: number
}

const OPTIONS: { readonly [Name in keyof Required<SqlOptions>]: true } = {
  purgeInterval: true,
  queryTimeout: true,
}

/** @throws ConfigError if one of them cannot be used, or does not exist. */
export function resolveOptions(options: SqlOptions): ResolvedOptions {
  const names = Object.keys(OPTIONS).join(', ')
  if (typeof options !== 'object' || options === null) {
    throw new ConfigError(
      `SqlLeaseBackend takes its options as an object: { ${names} }. Given was ${String(options)}.`,
    )
  }
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, key)) {
      throw new ConfigError(`SqlLeaseBackend has no option "${key}"; there are: ${names}.`)
    }
  }
  const { purgeInterval = '1m', queryTimeout = '5s' } = options
  return {
    purgeIntervalMs: toMs(purgeInterval, 'purgeInterval', 1),
    queryTimeoutMs: toMs(queryTimeout, 'queryTimeout', 1),
  }
}
