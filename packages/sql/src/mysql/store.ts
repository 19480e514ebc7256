/** Sessions, leases and groups in MySQL and MariaDB: each call is one to three statements, each a transaction of its own. */
import type { AcquireReply, CallOptions, Inspection, JoinReply, KeepAliveReply } from '@simba/core'
import { inspectionOf } from '../inspection.js'
import { bigintOf, numberOf, textOf } from '../rows.js'
import type { Runtime } from '../runtime.js'
import { type Limits, repeat } from '../servers/attempts.js'
import { checkShape, checkTables, type FoundTables, foundTables } from '../shape.js'
import { command, type SqlRow, type Statement } from '../statement.js'
import type { SqlStore } from '../store.js'
import { explain, isMissingTable, isRetryable, Overtaken } from './errors.js'
import type { Flavor } from './flavor.js'
import type { MysqlPool, MysqlResult } from './pool.js'
import { ddlIn, tables } from './schema.js'
import { type MysqlStatements, statementsIn } from './statements.js'

export interface MysqlOptions {
  /** The database with the tables; by default that of the connection. */
  readonly schema: string | undefined
  /** The longest that a statement may wait and still take effect, however much time its call has. */
  readonly queryTimeoutMs: number
}

/** Carries out the statements of one attempt. */
interface Attempt {
  run(statement: Statement): Promise<MysqlResult>
  /** What a statement may wait for at most, in ms. */
  readonly limitMs: number
}

export function mysqlStore(
  flavor: Flavor,
  pool: MysqlPool,
  options: MysqlOptions,
  runtime: Runtime,
): SqlStore {
  return new MysqlStore(flavor, pool, options, runtime)
}

class MysqlStore implements SqlStore {
  readonly name: string
  readonly ddl: string
  readonly explain = explain
  readonly #pool: MysqlPool
  readonly #sql: MysqlStatements
  readonly #where: string
  readonly #queryTimeoutMs: number
  readonly #runtime: Runtime

  constructor(flavor: Flavor, pool: MysqlPool, { schema, queryTimeoutMs }: MysqlOptions, runtime: Runtime) {
    this.name = flavor.name
    this.ddl = ddlIn(schema)
    this.#pool = pool
    this.#sql = statementsIn(schema, flavor)
    this.#where = schema === undefined ? 'the database' : `the database ${schema}`
    this.#queryTimeoutMs = queryTimeoutMs
    this.#runtime = runtime
  }

  openSession(id: string, leaseMs: number, metadata: string, call: CallOptions): Promise<void> {
    return this.#attempt(call, async ({ run }) => {
      await run(this.#sql.insertSession(id, leaseMs, metadata))
    })
  }

  keepAlive(id: string, leaseMs: number, call: CallOptions): Promise<KeepAliveReply> {
    return this.#attempt(call, async (attempt) => {
      const { count } = await attempt.run(this.#sql.renewSession(id, leaseMs, attempt.limitMs))
      // Where only rows that change are counted, a renewal to the same millisecond counts for none.
      if (count === 0 && !(await this.#lives(attempt, id))) {
        await this.#close(attempt, id)
        return { kind: 'expired' }
      }
      const { rows } = await attempt.run(this.#sql.ownedLeases(id))
      const owned = rows.map((row) => ({ name: textOf(row, 'name'), token: bigintOf(row, 'token') }))
      return { kind: 'renewed', remainingMs: leaseMs, owned }
    })
  }

  closeSession(id: string, call: CallOptions): Promise<void> {
    return this.#attempt(call, (attempt) => this.#close(attempt, id))
  }

  /** Repeated after a failure, it completes what is left. Memberships go last, so that none comes in between. */
  async #close({ run }: Attempt, id: string): Promise<void> {
    await run(this.#sql.freeLeases(id))
    await run(this.#sql.deleteSession(id))
    await run(this.#sql.deleteMemberships(id))
  }

  acquire(id: string, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.#attempt(call, async (attempt) => {
      const { run, limitMs } = attempt
      const claimed = await run(this.#sql.claimLease(name, id, limitMs))
      if (claimed.count === 1 && claimed.insertId !== undefined)
        return { kind: 'granted', token: claimed.insertId }
      const row = (await run(this.#sql.look(name, id))).rows[0]
      if (row === undefined || !isPositive(row, 'live_ms')) return this.#expiredOr(attempt, id)
      if (row.token === null) {
        const { count } = await run(this.#sql.insertLease(name, id))
        if (count === 1) return { kind: 'granted', token: 1n }
        throw new Overtaken()
      }
      const [holder, token] = [textOf(row, 'holder'), bigintOf(row, 'token')]
      if (holder === id) return { kind: 'granted', token }
      if (isPositive(row, 'held_ms')) return { kind: 'held', holder }
      const { count } =
        holder === '' ? { count: 0 } : await run(this.#sql.takeLease(name, id, token, limitMs))
      if (count === 1) return { kind: 'granted', token: token + 1n }
      throw new Overtaken()
    })
  }

  release(id: string, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.#attempt(call, async ({ run }) => {
      if (BigInt.asIntN(64, token) !== token) return // no lease can have it, and the server would take another for it
      await run(this.#sql.releaseLease(name, id, token))
    })
  }

  join(id: string, group: string, call: CallOptions): Promise<JoinReply> {
    return this.#attempt(call, async (attempt) => {
      const { count } = await attempt.run(this.#sql.insertMember(group, id))
      if (count === 1) return { kind: 'joined' }
      if (!(await this.#lives(attempt, id))) return { kind: 'expired' }
      const { rows } = await attempt.run(this.#sql.readMember(group, id))
      if (rows.length === 1) return { kind: 'joined' }
      throw new Overtaken()
    })
  }

  leave(id: string, group: string, call: CallOptions): Promise<void> {
    return this.#attempt(call, async ({ run }) => {
      await run(this.#sql.deleteMember(group, id))
    })
  }

  members(group: string, call: CallOptions): Promise<readonly string[]> {
    return this.#attempt(call, async ({ run }) => {
      const { rows } = await run(this.#sql.liveMembers(group))
      return rows.map((row) => textOf(row, 'session_id'))
    })
  }

  inspect(scope: Parameters<SqlStore['inspect']>[0], call: CallOptions): Promise<Inspection> {
    const lease = scope.kind === 'lease' ? scope.name : undefined
    return this.#attempt(call, async ({ run }) =>
      inspectionOf({
        sessions: (await run(this.#sql.inspectSessions(lease))).rows,
        leases: (await run(this.#sql.inspectLeases(lease))).rows,
        members: lease === undefined ? (await run(this.#sql.inspectMembers())).rows : [],
      }),
    )
  }

  purgeExpired(limit: number, call: CallOptions): Promise<number> {
    return this.#attempt(call, async ({ run }) => {
      const { rows } = await run(this.#sql.expiredSessions(limit))
      const ids = rows.map((row) => textOf(row, 'session_id'))
      if (ids.length === 0) return 0
      await run(this.#sql.deleteSessions(ids))
      await run(this.#sql.deleteMembershipsOf(ids))
      return ids.length
    })
  }

  createSchema(call: CallOptions): Promise<void> {
    return this.#attempt(call, async (attempt) => {
      checkShape(await this.#tables(attempt), tables, this.#where, this.ddl)
      for (const statement of this.ddl.trim().split(/;(?:\n|$)/)) {
        if (statement.trim() !== '') await attempt.run(command(statement))
      }
      checkTables(await this.#tables(attempt), tables, this.#where, this.ddl)
    })
  }

  async #tables({ run }: Attempt): Promise<FoundTables> {
    return foundTables((await run(this.#sql.describeColumns())).rows)
  }

  /** Whether a session lives, decided after any change of it that is under way. */
  async #lives({ run }: Attempt, id: string): Promise<boolean> {
    const [row] = (await run(this.#sql.shareSession(id))).rows
    return row !== undefined && isPositive(row, 'remaining_ms')
  }

  async #expiredOr(attempt: Attempt, id: string): Promise<AcquireReply> {
    if (await this.#lives(attempt, id)) throw new Overtaken()
    return { kind: 'expired' }
  }

  async #attempt<T>(call: CallOptions, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    const attemptIn = ({ signal, leftMs }: Limits) => ({
      run: (statement: Statement) => this.#pool.run(statement, signal),
      limitMs: Math.ceil(Math.min(leftMs, this.#queryTimeoutMs)),
    })
    try {
      return await repeat((limits) => work(attemptIn(limits)), call, isRetryable, this.#runtime)
    } catch (error) {
      if (isMissingTable(error)) {
        const attempt = attemptIn({ signal: call.signal, leftMs: call.timeoutMs })
        checkTables(await this.#tables(attempt), tables, this.#where, this.ddl)
      }
      throw error
    }
  }
}

/** Absent rows of a join are `null`. */
function isPositive(row: SqlRow, column: string): boolean {
  return row[column] !== null && numberOf(row, column) > 0
}
