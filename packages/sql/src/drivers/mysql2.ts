/** `mysql2`: its pools, with promises or callbacks. */
import type { MysqlPool, MysqlResult } from '../mysql/pool.js'
import type { Statement } from '../statement.js'
import { checkOut, exactId, type PooledConnection } from './mysql-connection.js'

/** What `createPool()` of `mysql2` or `mysql2/promise` gives. */
export interface Mysql2Pool {
  getConnection(...given: never[]): unknown
  execute(...given: never[]): unknown
  on(event: 'enqueue', listener: () => void): unknown
}

interface Connection extends PooledConnection {
  execute(statement: object): Promise<unknown>
}

export function isMysql2Pool(given: object): given is Mysql2Pool {
  return (
    'getConnection' in given &&
    typeof given.getConnection === 'function' &&
    'execute' in given &&
    typeof given.execute === 'function' &&
    !('activeConnections' in given)
  )
}

export function mysql2Pool(pool: Mysql2Pool): MysqlPool {
  const promises: object = 'promise' in pool && typeof pool.promise === 'function' ? pool.promise() : pool
  return {
    run: ({ sql, parameters }: Statement, signal) =>
      checkOut<Connection, MysqlResult>(promises, signal, async (connection) => {
        const answer: unknown = await connection.execute({ sql, values: parameters, rowsAsArray: false })
        const result: unknown = Array.isArray(answer) ? answer[0] : undefined
        if (Array.isArray(result)) return { rows: result, count: 0, insertId: undefined }
        return exactId(result)
      }),
  }
}
