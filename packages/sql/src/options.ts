import type { Duration } from '@simba/core'
import { toMs } from './duration.js'

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

/** @throws ConfigError if one of them cannot be used. */
export function resolveOptions({ purgeInterval = '1m', queryTimeout = '5s' }: SqlOptions): ResolvedOptions {
  return {
    purgeIntervalMs: toMs(purgeInterval, 'purgeInterval'),
    queryTimeoutMs: toMs(queryTimeout, 'queryTimeout'),
  }
}
