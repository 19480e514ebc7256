/** Which driver of MySQL or MariaDB was given. */
import { ConfigError } from '@simba/core'
import type { MysqlPool } from '../mysql/pool.js'
import { describeGiven } from './given.js'
import { isMariadbPool, type MariadbPool, mariadbPool } from './mariadb.js'
import { isMysql2Pool, type Mysql2Pool, mysql2Pool } from './mysql2.js'

/** A pool of one of the drivers known, for either server: that of `mysql2`, with promises or callbacks, or of `mariadb`. */
export type MysqlDriver = Mysql2Pool | MariadbPool

/** @throws ConfigError if it is none of them. */
export function mysqlPool(pool: MysqlDriver, factory: 'mysql' | 'mariadb'): MysqlPool {
  // What comes from JavaScript, or through a cast, may be anything.
  const given: unknown = pool
  if (typeof given === 'object' && given !== null) {
    if (isMariadbPool(given)) return mariadbPool(given)
    if (isMysql2Pool(given)) return mysql2Pool(given)
  }
  throw new ConfigError(
    `SqlLeaseBackend.${factory}() was given ${describeGiven(given)}. Give it a pool: \`createPool({ … })\` of mysql2 or of mariadb.`,
  )
}
