import {
  type AcquireReply,
  BackendError,
  type CallOptions,
  type Hint,
  type HintSubscription,
  type Inspection,
  type InspectScope,
  type JoinReply,
  type KeepAliveReply,
  type LeaseBackend,
  type OpenedSession,
  type Session,
  type SessionId,
} from '@simba/core'
import { type MysqlDriver, mysqlPool } from './drivers/mysql.js'
import { type PostgresDriver, postgresPool } from './drivers/postgres.js'
import type { SqliteDatabase } from './drivers/sqlite.js'
import { type Flavor, mariadb, mysql } from './mysql/flavor.js'
import { mysqlStore } from './mysql/store.js'
import {
  POSTGRES_OPTIONS,
  type PostgresOptions,
  type ResolvedOptions,
  resolveOptions,
  SERVER_OPTIONS,
  type ServerOptions,
  SQLITE_OPTIONS,
  type SqlOptions,
} from './options.js'
import { postgresStore } from './postgres/store.js'
import { type Runtime, systemRuntime } from './runtime.js'
import { sqliteStore } from './sqlite/store.js'
import type { SqlStore } from './store.js'
import { ConnectionTrouble, OutOfTime } from './trouble.js'

/** How many sessions one purge deletes at most: it must not lock others out for long. */
const PURGE_LIMIT = 1000

/** Sessions, leases and groups in three tables of an SQL database, which also tells the time. */
export class SqlLeaseBackend implements LeaseBackend {
  readonly name: string
  /** The DDL of the tables, for those who make them with a migration of their own instead of {@link createSchema}. */
  readonly schema: string
  /** Absent where the database has no way to tell. */
  readonly hints?: (listener: (hint: Hint) => void) => HintSubscription
  readonly #store: SqlStore
  readonly #options: ResolvedOptions
  readonly #runtime: Runtime
  #purgeDueAt = Number.NEGATIVE_INFINITY
  #purging: AbortController | undefined

  private constructor(store: SqlStore, options: ResolvedOptions, runtime: Runtime) {
    this.name = store.name
    this.schema = store.ddl
    this.#store = store
    this.#options = options
    this.#runtime = runtime
    if (store.hints !== undefined) this.hints = store.hints
  }

  /**
   * A backend in an SQLite file that several processes of one machine share, or in memory.
   *
   * Give it a connection of its own, open for writing. It sets `journal_mode` to WAL, `synchronous` to FULL (unless it is EXTRA),
   * `fullfsync`, and a `busy_timeout` of a few milliseconds on it. The connection is never closed.
   *
   * Guarantees: a token that was given out survives a crash of the process, of the machine, and a power loss. Not guaranteed: anything
   * over a network file system; leases that end on time if the machine's clock is set.
   *
   * @param database An open database of `better-sqlite3`, `libsql`, `node:sqlite` or `@photostructure/sqlite`.
   * @throws ConfigError if it is something else, if it is closed or asynchronous, or if an option cannot be used.
   *
   * @example
   * const backend = SqlLeaseBackend.sqlite(new DatabaseSync('simba.db'))
   * await backend.createSchema()
   * const simba = new Simba({ backend })
   */
  static sqlite(database: SqliteDatabase, options: SqlOptions = {}): SqlLeaseBackend {
    const resolved = resolveOptions(options, SQLITE_OPTIONS)
    return new SqlLeaseBackend(sqliteStore(database, systemRuntime), resolved, systemRuntime)
  }

  /**
   * A backend in PostgreSQL 14 or newer. It takes connections of the pool for one message at a time, and one more of its own to listen
   * for releases. The pool is never ended.
   *
   * Guarantees: leases are measured by the server's clock alone, at READ COMMITTED whatever the default is; a token that was given out
   * survives what a commit survives. Not guaranteed: tokens after a failover to a standby that replicates asynchronously.
   *
   * @param pool A `Pool` of `pg`, or what `postgres()` gives.
   * @throws ConfigError if it is something else, or if an option cannot be used.
   *
   * @example
   * const backend = SqlLeaseBackend.postgres(new Pool({ connectionString }))
   * await backend.createSchema()
   */
  static postgres(pool: PostgresDriver, options: PostgresOptions = {}): SqlLeaseBackend {
    const resolved = resolveOptions(options, POSTGRES_OPTIONS)
    return new SqlLeaseBackend(
      postgresStore(postgresPool(pool), resolved, systemRuntime),
      resolved,
      systemRuntime,
    )
  }

  /**
   * A backend in MySQL 8 or newer. It takes connections of the pool for one statement at a time. The pool is never ended.
   *
   * Guarantees: leases are measured by the server's clock alone, at every isolation level; a token that was given out survives what a
   * commit survives. Not guaranteed: tokens after a failover to a replica that replicates asynchronously.
   *
   * @param pool What `createPool()` of `mysql2`, `mysql2/promise` or `mariadb` gives.
   * @throws ConfigError if it is something else, or if an option cannot be used.
   *
   * @example
   * const backend = SqlLeaseBackend.mysql(createPool({ uri }))
   * await backend.createSchema()
   */
  static mysql(pool: MysqlDriver, options: ServerOptions = {}): SqlLeaseBackend {
    return SqlLeaseBackend.#mysqlFamily(mysql, pool, options)
  }

  /**
   * A backend in MariaDB 10.11 or newer; otherwise as {@link SqlLeaseBackend.mysql}.
   *
   * @param pool What `createPool()` of `mariadb`, `mysql2` or `mysql2/promise` gives.
   * @throws ConfigError if it is something else, or if an option cannot be used.
   *
   * @example
   * const backend = SqlLeaseBackend.mariadb(createPool(url))
   * await backend.createSchema()
   */
  static mariadb(pool: MysqlDriver, options: ServerOptions = {}): SqlLeaseBackend {
    return SqlLeaseBackend.#mysqlFamily(mariadb, pool, options)
  }

  static #mysqlFamily(flavor: Flavor, pool: MysqlDriver, options: ServerOptions): SqlLeaseBackend {
    const resolved = resolveOptions(options, SERVER_OPTIONS)
    const store = mysqlStore(flavor, mysqlPool(pool, flavor.name), resolved, systemRuntime)
    return new SqlLeaseBackend(store, resolved, systemRuntime)
  }

  /**
   * Makes the tables unless they are there. Many processes may do so at once.
   *
   * @throws BackendError if it fails, or if there are tables of these names with other columns.
   */
  createSchema(call?: Partial<CallOptions>): Promise<void> {
    const bounded = this.#bounded(call)
    return this.#run('createSchema', bounded, () => this.#store.createSchema(bounded))
  }

  /**
   * Deletes up to 1000 sessions that have expired without being closed, and answers how many. This happens by itself after
   * `openSession` and `keepAlive`, once per `purgeInterval`; nothing else depends on it.
   *
   * @throws BackendError if it fails.
   */
  purgeExpired(call?: Partial<CallOptions>): Promise<number> {
    const bounded = this.#bounded(call)
    return this.#run('purgeExpired', bounded, () => this.#store.purgeExpired(PURGE_LIMIT, bounded))
  }

  async openSession(
    request: { readonly leaseMs: number; readonly metadata: string },
    call: CallOptions,
  ): Promise<OpenedSession> {
    const id = this.#runtime.newSessionId()
    const leaseMs = wholeMs(request.leaseMs)
    await this.#run('openSession', call, () => this.#store.openSession(id, leaseMs, request.metadata, call))
    this.#purgeIfDue()
    return { id, remainingMs: leaseMs }
  }

  async keepAlive({ id, leaseMs }: Session, call: CallOptions): Promise<KeepAliveReply> {
    const reply = await this.#run('keepAlive', call, () => this.#store.keepAlive(id, wholeMs(leaseMs), call))
    this.#purgeIfDue()
    return reply
  }

  closeSession({ id }: Session, call: CallOptions): Promise<void> {
    return this.#run('closeSession', call, () => this.#store.closeSession(id, call))
  }

  acquire({ id }: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.#run(`acquire "${name}"`, call, () => this.#store.acquire(id, name, call))
  }

  release({ id }: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.#run(`release "${name}"`, call, () => this.#store.release(id, name, token, call))
  }

  join({ id }: Session, group: string, call: CallOptions): Promise<JoinReply> {
    return this.#run(`join "${group}"`, call, () => this.#store.join(id, group, call))
  }

  leave({ id }: Session, group: string, call: CallOptions): Promise<void> {
    return this.#run(`leave "${group}"`, call, () => this.#store.leave(id, group, call))
  }

  members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
    return this.#run(`members "${group}"`, call, () => this.#store.members(group, call))
  }

  inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
    return this.#run('inspect', call, () => this.#store.inspect(scope, call))
  }

  /** Gives up a purge that is under way. What was given to make this backend stays open, and so do subscriptions to hints. */
  async close(): Promise<void> {
    this.#purging?.abort()
  }

  async #run<T>(what: string, { signal }: CallOptions, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted && error === signal.reason) throw error
      throw this.#failure(what, error)
    }
  }

  #failure(what: string, error: unknown): BackendError {
    if (error instanceof OutOfTime) {
      const { cause } = error
      const reason = cause === undefined ? 'earlier calls of this process were not done' : this.#reason(cause)
      const after = `${Math.round(error.waitedMs)} ms`
      return new BackendError(`${this.name}: ${what} gave up after ${after}: ${reason}.`, {
        cause: cause ?? error,
      })
    }
    return new BackendError(`${this.name}: ${what} failed: ${this.#reason(error)}.`, { cause: error })
  }

  #reason(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof ConnectionTrouble) return message
    const meaning = this.#store.explain(error)
    return meaning === undefined ? message : `${meaning} (${message})`
  }

  #purgeIfDue(): void {
    const now = this.#runtime.now()
    if (now < this.#purgeDueAt || this.#purging !== undefined) return
    this.#purgeDueAt = now + this.#options.purgeIntervalMs
    const controller = new AbortController()
    this.#purging = controller
    // Nobody waits for it, and the next purge makes up for one that fails.
    const done = () => {
      this.#purging = undefined
    }
    this.purgeExpired({ signal: controller.signal }).then(done, done)
  }

  #bounded({
    signal = new AbortController().signal,
    timeoutMs = this.#options.queryTimeoutMs,
  }: Partial<CallOptions> = {}): CallOptions {
    return { signal, timeoutMs }
  }
}

/** Columns hold whole milliseconds. */
function wholeMs(ms: number): number {
  return Math.max(1, Math.floor(ms))
}
