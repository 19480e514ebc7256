/** `mariadb`: its pool with promises. */
import type { MysqlPool, MysqlResult } from '../mysql/pool.js'
import type { Statement } from '../statement.js'
import { checkOut, exactId, type PooledConnection } from './mysql-connection.js'

/** What `createPool()` of `mariadb` gives. */
export interface MariadbPool {
  getConnection(): Promise<unknown>
  activeConnections(): number
  totalConnections(): number
}

interface Connection extends PooledConnection {
  execute(statement: object, values: readonly unknown[]): Promise<unknown>
}

export function isMariadbPool(given: object): given is MariadbPool {
  return (
    'getConnection' in given &&
    typeof given.getConnection === 'function' &&
    'activeConnections' in given &&
    typeof given.activeConnections === 'function'
  )
}

export function mariadbPool(pool: MariadbPool): MysqlPool {
  return {
    run: ({ sql, parameters }: Statement, signal) =>
      checkOut<Connection, MysqlResult>(pool, signal, async (connection) => {
        const answer = await connection.execute({ sql, rowsAsArray: false, nestTables: false }, parameters)
        if (Array.isArray(answer)) return { rows: [...answer], count: 0, insertId: undefined }
        return exactId(answer)
      }),
  }
}
