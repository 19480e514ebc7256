/** Which driver of PostgreSQL was given. */
import { ConfigError } from '@simba/core'
import type { PostgresPool } from '../postgres/pool.js'
import { describeGiven } from './given.js'
import { isPgPool, type PgPool, pgPool } from './pg.js'
import { isPostgresJs, type PostgresJs, postgresJsPool } from './postgres-js.js'

/** A pool of one of the drivers known: a `Pool` of `pg`, or what `postgres()` gives. */
export type PostgresDriver = PgPool | PostgresJs

/** @throws ConfigError if it is none of them. */
export function postgresPool(pool: PostgresDriver): PostgresPool {
  // What comes from JavaScript, or through a cast, may be anything.
  const given: unknown = pool
  if (typeof given === 'function' && isPostgresJs(given)) return postgresJsPool(given)
  if (typeof given === 'object' && given !== null && isPgPool(given)) return pgPool(given)
  throw new ConfigError(
    `SqlLeaseBackend.postgres() was given ${describeGiven(given)}. Give it a pool: \`new Pool({ … })\` of pg, or \`postgres(…)\` of postgres.`,
  )
}
