/** What the drivers of MySQL and MariaDB have in common: connections that are taken from a pool for one statement. */
import type { MysqlResult } from '../mysql/pool.js'
import { unlessAborted } from '../servers/attempts.js'
import { ConnectionTrouble } from '../trouble.js'

export interface PooledConnection {
  release(): unknown
  /** Cuts the connection; the pool makes another. */
  destroy(): unknown
}

/** A connection whose statement was given up is not used again: nobody knows when it will be done. */
export async function checkOut<C extends PooledConnection, T>(
  pool: object,
  signal: AbortSignal,
  work: (connection: C) => Promise<T>,
): Promise<T> {
  let connection: C
  try {
    connection = await unlessAborted(connectionOf<C>(pool), signal, (late) => void late.release())
  } catch (error) {
    if (!signal.aborted) throw error
    throw new ConnectionTrouble(
      'the pool gave no connection in all that time; enlarge it, or give Simba a pool of its own',
      { cause: error },
    )
  }
  try {
    return await unlessAborted(work(connection), signal)
  } finally {
    if (signal.aborted) connection.destroy()
    else void connection.release()
  }
}

async function connectionOf<C extends PooledConnection>(pool: object): Promise<C> {
  if (!('getConnection' in pool) || typeof pool.getConnection !== 'function')
    throw new ConnectionTrouble('the pool gives no connections')
  const connection: unknown = await pool.getConnection()
  if (isConnection<C>(connection)) return connection
  throw new ConnectionTrouble('the pool gave something that is no connection')
}

function isConnection<C extends PooledConnection>(given: unknown): given is C {
  return (
    typeof given === 'object' &&
    given !== null &&
    'execute' in given &&
    typeof given.execute === 'function' &&
    'release' in given &&
    'destroy' in given
  )
}

/** The answer to a statement without rows. */
export function exactId(answer: unknown): MysqlResult {
  if (typeof answer !== 'object' || answer === null || !('affectedRows' in answer))
    throw new ConnectionTrouble('the driver gave something that is no result')
  const given: unknown = 'insertId' in answer ? answer.insertId : undefined
  const exact = typeof given === 'bigint' || (typeof given === 'number' && Number.isSafeInteger(given))
  return { rows: [], count: Number(answer.affectedRows), insertId: exact ? BigInt(given) : undefined }
}
