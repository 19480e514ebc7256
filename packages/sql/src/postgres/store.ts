/** Sessions, leases and groups in PostgreSQL: each call is one message, a takeover two. */
import type { AcquireReply, CallOptions, Inspection, JoinReply, KeepAliveReply } from '@simba/core'
import { inspectionOf } from '../inspection.js'
import { bigintOf, numberOf, textOf } from '../rows.js'
import type { Runtime } from '../runtime.js'
import { type Limits, repeat } from '../servers/attempts.js'
import { checkShape, checkTables, foundTables } from '../shape.js'
import type { SqlRow } from '../statement.js'
import type { SqlStore } from '../store.js'
import { explain, isMissingTable, isRetryable } from './errors.js'
import { PostgresHints } from './hints.js'
import { text, whole } from './literals.js'
import type { MessageLimits, PostgresPool, Prepared, Rows } from './pool.js'
import { ddlIn, tables } from './schema.js'
import { type PostgresStatements, statementsIn } from './statements.js'

export interface PostgresOptions {
  /** The schema with the tables; by default what the connection's `search_path` finds. */
  readonly schema: string | undefined
  readonly hints: boolean
  /** The longest that one statement may take, however much time its call has. */
  readonly queryTimeoutMs: number
}

export function postgresStore(pool: PostgresPool, options: PostgresOptions, runtime: Runtime): SqlStore {
  return new PostgresStore(pool, options, runtime)
}

class PostgresStore implements SqlStore {
  readonly name = 'postgres'
  readonly ddl: string
  readonly hints: SqlStore['hints']
  readonly explain = explain
  readonly #pool: PostgresPool
  readonly #sql: PostgresStatements
  readonly #where: string
  readonly #queryTimeoutMs: number
  readonly #runtime: Runtime

  constructor(pool: PostgresPool, { schema, hints, queryTimeoutMs }: PostgresOptions, runtime: Runtime) {
    this.#pool = pool
    this.#sql = statementsIn(schema)
    this.#where = schema === undefined ? 'the database' : `the schema ${schema}`
    this.#queryTimeoutMs = queryTimeoutMs
    this.#runtime = runtime
    this.ddl = ddlIn(schema)
    if (hints) {
      const listening = new PostgresHints(pool, runtime)
      this.hints = (listener) => listening.subscribe(listener)
    }
  }

  async openSession(id: string, leaseMs: number, metadata: string, call: CallOptions): Promise<void> {
    await this.#script([this.#sql.insertSession(id, leaseMs, metadata)], call)
  }

  async keepAlive(id: string, leaseMs: number, call: CallOptions): Promise<KeepAliveReply> {
    const [, renewed, owned] = await this.#script(this.#sql.keepAlive(id, leaseMs), call)
    if (renewed?.length === 1) {
      const leases = (owned ?? []).map((row) => ({
        name: textOf(row, 'name'),
        token: bigintOf(row, 'token'),
      }))
      return { kind: 'renewed', remainingMs: leaseMs, owned: leases }
    }
    await this.closeSession(id, call)
    return { kind: 'expired' }
  }

  async closeSession(id: string, call: CallOptions): Promise<void> {
    await this.#script(this.#sql.closeSession(id), call)
  }

  async acquire(id: string, name: string, call: CallOptions): Promise<AcquireReply> {
    const rows = await this.#execute(this.#sql.acquire, [text(name), text(id)], call)
    return verdictOf(rows[0], id) ?? this.#settle(id, name, call)
  }

  async #settle(id: string, name: string, call: CallOptions): Promise<AcquireReply> {
    const row = (await this.#script(this.#sql.settle(id, name), call)).at(-1)?.[0]
    if (row === undefined || !isPositive(row, 'live_ms')) return { kind: 'expired' }
    const holder = textOf(row, 'holder').trim()
    return holder === id ? { kind: 'granted', token: bigintOf(row, 'token') } : { kind: 'held', holder }
  }

  async release(id: string, name: string, token: bigint, call: CallOptions): Promise<void> {
    if (BigInt.asIntN(64, token) !== token) return // no lease can have it, and the server refuses it
    await this.#execute(this.#sql.release, [text(name), text(id), whole(token)], call)
  }

  async join(id: string, group: string, call: CallOptions): Promise<JoinReply> {
    const row = (await this.#script(this.#sql.join(group, id), call)).at(-1)?.[0]
    return row !== undefined && isPositive(row, 'live_ms') ? { kind: 'joined' } : { kind: 'expired' }
  }

  async leave(id: string, group: string, call: CallOptions): Promise<void> {
    await this.#execute(this.#sql.leave, [text(group), text(id)], call)
  }

  async members(group: string, call: CallOptions): Promise<readonly string[]> {
    const rows = await this.#execute(this.#sql.members, [text(group)], call)
    return rows.map((row) => textOf(row, 'session_id'))
  }

  async inspect(scope: Parameters<SqlStore['inspect']>[0], call: CallOptions): Promise<Inspection> {
    const lease = scope.kind === 'lease' ? scope.name : undefined
    const statements = [this.#sql.inspectSessions(lease), this.#sql.inspectLeases(lease)]
    if (lease === undefined) statements.push(this.#sql.inspectMembers())
    const [sessions, leases, members] = await this.#script(statements, call)
    return inspectionOf({
      sessions: sessions ?? [],
      leases: (leases ?? []).map((row) => ({ ...row, session_id: textOf(row, 'session_id').trim() })),
      members: members ?? [],
    })
  }

  async purgeExpired(limit: number, call: CallOptions): Promise<number> {
    const [result] = await this.#script([this.#sql.purge(limit)], call)
    const [row] = result ?? []
    return row === undefined ? 0 : numberOf(row, 'purged')
  }

  async createSchema(call: CallOptions): Promise<void> {
    const [before] = await this.#script([this.#sql.describeColumns()], call)
    checkShape(foundTables(before ?? []), tables, this.#where, this.ddl)
    await this.#script([this.#sql.lockSchema(), ...this.ddl.trim().replace(/;$/, '').split(/;\n/)], call)
    await this.#checkTables(call)
  }

  /** @throws ConnectionTrouble if a table is missing or of another shape. */
  async #checkTables(call: CallOptions): Promise<void> {
    const { signal, timeoutMs: statementMs } = call
    const [described] = await this.#pool.script([this.#sql.describeColumns()], { signal, statementMs })
    checkTables(foundTables(described ?? []), tables, this.#where, this.ddl)
  }

  #execute(statement: Prepared, args: readonly string[], call: CallOptions): Promise<Rows> {
    return this.#repeat((limits) => this.#pool.execute(statement, args, limits), call)
  }

  #script(statements: readonly string[], call: CallOptions): Promise<readonly Rows[]> {
    return this.#repeat((limits) => this.#pool.script(statements, limits), call)
  }

  async #repeat<T>(message: (limits: MessageLimits) => Promise<T>, call: CallOptions): Promise<T> {
    const attempt = ({ signal, leftMs }: Limits) =>
      message({ signal, statementMs: Math.min(leftMs, this.#queryTimeoutMs) })
    try {
      return await repeat(attempt, call, isRetryable, this.#runtime)
    } catch (error) {
      if (isMissingTable(error)) await this.#checkTables(call)
      throw error
    }
  }
}

/** What the fast attempt has found out; `undefined` if it must be looked at with locks. */
function verdictOf(row: SqlRow | undefined, id: string): AcquireReply | undefined {
  if (row === undefined) return undefined
  if (row.granted !== null) {
    return row.granted_live === true
      ? { kind: 'granted', token: bigintOf(row, 'granted') }
      : { kind: 'expired' }
  }
  if (!isPositive(row, 'live_ms') || row.holder === null) return undefined
  const holder = textOf(row, 'holder').trim()
  if (holder === id) return { kind: 'granted', token: bigintOf(row, 'token') }
  return isPositive(row, 'held_ms') ? { kind: 'held', holder } : undefined
}

/** Absent rows of a join are `null`. */
function isPositive(row: SqlRow, column: string): boolean {
  return row[column] !== null && numberOf(row, column) > 0
}
