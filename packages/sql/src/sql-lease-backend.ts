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
import { type Access, ConnectionTrouble, OutOfTime, type SqlConnections, type Work } from './connections.js'
import type { SqlDialect } from './dialect.js'
import { sqlite } from './dialects/sqlite.js'
import type { SqliteDatabase } from './drivers/sqlite.js'
import { Operations } from './operations.js'
import { type ResolvedOptions, resolveOptions, type SqlOptions } from './options.js'
import { type Runtime, systemRuntime } from './runtime.js'
import { sqliteConnection } from './sqlite/connection.js'

/** How many sessions one purge deletes at most: it must not lock others out for long. */
const PURGE_LIMIT = 1000

/** Sessions, leases and groups in three tables of an SQL database, which also tells the time. */
export class SqlLeaseBackend implements LeaseBackend {
  readonly name: string
  /** The DDL of the tables, for those who make them with a migration of their own instead of {@link createSchema}. */
  readonly schema: string
  /** Absent where the database has no way to tell. */
  readonly hints?: (listener: (hint: Hint) => void) => HintSubscription
  readonly #dialect: SqlDialect
  readonly #connections: SqlConnections
  readonly #operations: Operations
  readonly #options: ResolvedOptions
  readonly #runtime: Runtime
  #purgeDueAt = Number.NEGATIVE_INFINITY
  #purging: AbortController | undefined

  private constructor(
    dialect: SqlDialect,
    connections: SqlConnections,
    options: ResolvedOptions,
    runtime: Runtime,
  ) {
    this.name = dialect.name
    this.schema = dialect.ddl
    this.#dialect = dialect
    this.#connections = connections
    this.#operations = new Operations(dialect)
    this.#options = options
    this.#runtime = runtime
    if (connections.hints !== undefined) this.hints = connections.hints.bind(connections)
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
    const resolved = resolveOptions(options)
    return new SqlLeaseBackend(sqlite, sqliteConnection(database, systemRuntime), resolved, systemRuntime)
  }

  /**
   * Makes the tables unless they are there. Many processes may do so at once.
   *
   * @throws BackendError if it fails, or if there are tables of these names with other columns.
   */
  createSchema(call?: Partial<CallOptions>): Promise<void> {
    const bounded = this.#bounded(call)
    return this.#explained('createSchema', bounded, this.#connections.createSchema(bounded))
  }

  /**
   * Deletes up to 1000 sessions that have expired without being closed, and answers how many. This happens by itself after
   * `openSession` and `keepAlive`, once per `purgeInterval`; nothing else depends on it.
   *
   * @throws BackendError if it fails.
   */
  purgeExpired(call?: Partial<CallOptions>): Promise<number> {
    return this.#write('purgeExpired', this.#bounded(call), () => this.#operations.purgeExpired(PURGE_LIMIT))
  }

  async openSession(
    request: { readonly leaseMs: number; readonly metadata: string },
    call: CallOptions,
  ): Promise<OpenedSession> {
    const id = this.#runtime.newSessionId()
    const leaseMs = wholeMs(request.leaseMs)
    await this.#write('openSession', call, () => this.#operations.openSession(id, leaseMs, request.metadata))
    this.#purgeIfDue()
    return { id, remainingMs: leaseMs }
  }

  async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    const reply = await this.#write('keepAlive', call, (announce) =>
      this.#operations.keepAlive(announce, session.id, wholeMs(session.leaseMs)),
    )
    this.#purgeIfDue()
    return reply
  }

  closeSession({ id }: Session, call: CallOptions): Promise<void> {
    return this.#write('closeSession', call, (announce) => this.#operations.closeSession(announce, id))
  }

  acquire({ id }: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.#write(`acquire "${name}"`, call, () => this.#operations.acquire(id, name))
  }

  release({ id }: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.#write(`release "${name}"`, call, (announce) =>
      this.#operations.release(announce, id, name, token),
    )
  }

  join({ id }: Session, group: string, call: CallOptions): Promise<JoinReply> {
    return this.#write(`join "${group}"`, call, (announce) => this.#operations.join(announce, id, group))
  }

  leave({ id }: Session, group: string, call: CallOptions): Promise<void> {
    return this.#write(`leave "${group}"`, call, (announce) => this.#operations.leave(announce, id, group))
  }

  members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
    return this.#transaction('read', `members "${group}"`, call, () => this.#operations.members(group))
  }

  inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
    return this.#transaction('read', 'inspect', call, () => this.#operations.inspect(scope))
  }

  /** Gives up a purge that is under way. What was given to make this backend stays open, and so do subscriptions to hints. */
  async close(): Promise<void> {
    this.#purging?.abort()
  }

  #write<T>(what: string, call: CallOptions, work: Work<T>): Promise<T> {
    return this.#transaction('write', what, call, work)
  }

  #transaction<T>(access: Access, what: string, call: CallOptions, work: Work<T>): Promise<T> {
    return this.#explained(what, call, this.#connections.transaction(access, work, call))
  }

  async #explained<T>(what: string, { signal }: CallOptions, work: Promise<T>): Promise<T> {
    try {
      return await work
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
    const meaning = this.#dialect.explain(error)
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
