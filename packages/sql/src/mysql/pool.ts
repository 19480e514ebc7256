/** The port to a pool of MySQL or MariaDB connections; one file in `drivers/` for each driver. */
import type { Statement, StatementResult } from '../statement.js'

export interface MysqlResult extends StatementResult {
  /** What `last_insert_id(…)` was given in an update; `undefined` where the driver cannot give it exactly. */
  readonly insertId: bigint | undefined
}

export interface MysqlPool {
  /**
   * Carries out one prepared statement, which is a transaction of its own. Rejects with the signal's reason soon after that aborts; a
   * statement that is under way then loses its connection, but may still take effect.
   */
  run(statement: Statement, signal: AbortSignal): Promise<MysqlResult>
}
