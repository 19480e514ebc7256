/**
 * A connection to an SQLite file. All backends on one database object share it, since they share its transactions.
 *
 * SQLite is synchronous, so a transaction is carried out in one go: nothing of the application runs inside it, the file is locked no
 * longer than the work takes, and a call that was aborted before it cannot take effect.
 */
import type { CallOptions, Hint, HintSubscription } from '@simba/core'
import { type SqliteDatabase, type SqliteHandle, sqliteHandle } from '../drivers/sqlite.js'
import { numberOf } from '../rows.js'
import type { Runtime } from '../runtime.js'
import { query } from '../statement.js'
import { ConnectionTrouble } from '../trouble.js'
import { isRetryable } from './errors.js'
import { HintWatch, type Traces } from './hint-watch.js'
import { Lane } from './lane.js'
import { checkBeforeCreating, checkSchema } from './schema.js'
import { isSetUp, type Settings, setUp } from './settings.js'
import { ddl } from './statements.js'
import { runSteps, type Steps } from './steps.js'
import { WatchedTopics } from './watched-topics.js'
import type { Access, Work } from './work.js'

/** The connection is in a transaction of the application. */
class Occupied extends ConnectionTrouble {
  override readonly name: string = 'Occupied'

  constructor() {
    super(
      'the connection was in a transaction of the application all the time; give Simba a connection of its own',
    )
  }
}

const connections = new WeakMap<SqliteDatabase, SqliteConnection>()

/** @throws ConfigError if it is no database object that is known. */
export function sqliteConnection(database: SqliteDatabase, runtime: Runtime): SqliteConnection {
  const handle = sqliteHandle(database)
  const known = connections.get(database)
  if (known !== undefined) return known
  const connection = new SqliteConnection(handle, runtime)
  connections.set(database, connection)
  return connection
}

export class SqliteConnection {
  readonly #handle: SqliteHandle
  readonly #writes: Lane
  /** Reading does not wait behind writing: in WAL mode it needs no lock. */
  readonly #reads: Lane
  readonly #topics: WatchedTopics
  readonly #watch: HintWatch
  #settings: Settings | undefined
  #schemaChecked = false
  /** A rollback failed: the transaction that is open is not the application's. */
  #rollBackFirst = false
  /** `pragma data_version` at the last look for hints. */
  #seenVersion: number | undefined

  constructor(handle: SqliteHandle, runtime: Runtime) {
    this.#handle = handle
    const worthAnother = (error: unknown) => error instanceof Occupied || isRetryable(error)
    this.#writes = new Lane(runtime, worthAnother)
    this.#reads = new Lane(runtime, worthAnother)
    this.#watch = new HintWatch(
      () => this.#traces(),
      (asked) => this.#look(asked),
      runtime,
    )
    this.#topics = new WatchedTopics({
      onWatched: () => {
        this.#watch.start()
        this.#watch.poke()
      },
      onNoneWatched: () => this.#watch.stop(),
    })
  }

  async transaction<T>(access: Access, work: Work<T>, call: CallOptions): Promise<T> {
    const lane = access === 'write' ? this.#writes : this.#reads
    let news = false
    const announce = () => {
      news = true
    }
    const answer = await lane.run(() => this.#transact(access, () => this.#perform(work(announce))), call)
    if (access === 'write') this.#watch.wrote()
    if (news) this.#watch.poke()
    return answer
  }

  createSchema(call: CallOptions): Promise<void> {
    const create = () => {
      const where = this.#where
      this.#run(checkBeforeCreating(where))
      this.#handle.exec(ddl)
      this.#run(checkSchema(where))
      this.#schemaChecked = true
    }
    return this.#writes.run(() => this.#transact('write', create), call)
  }

  hints(listener: (hint: Hint) => void): HintSubscription {
    return this.#topics.subscribe(listener)
  }

  #transact<T>(access: Access, body: () => T): T {
    this.#enter()
    this.#handle.exec(access === 'write' ? 'begin immediate' : 'begin')
    try {
      this.#settings?.file?.check()
      const result = body()
      this.#handle.exec('commit')
      return result
    } catch (error) {
      this.#rollBack()
      this.#schemaChecked = false // perhaps the tables are others now
      throw error
    }
  }

  /** Sees to it that a transaction can begin, on a connection that is as it must be. */
  #enter(): void {
    if (!this.#handle.isOpen()) {
      this.#settings = undefined
      throw new ConnectionTrouble(
        'the application has closed the database; open it, and make a backend of it',
      )
    }
    if (this.#rollBackFirst) this.#rollBack()
    if (this.#handle.inTransaction()) throw new Occupied()
    if (this.#settings === undefined || !isSetUp(this.#handle)) {
      this.#settings = undefined
      this.#schemaChecked = false
      this.#settings = setUp(this.#handle)
    }
  }

  #rollBack(): void {
    this.#rollBackFirst = false
    try {
      this.#handle.exec('rollback')
    } catch {
      // After some failures, such as a full disk, SQLite has done so already.
      this.#rollBackFirst = this.#handle.isOpen() && this.#handle.inTransaction()
    }
  }

  #perform<T>(steps: Steps<T>): T {
    if (!this.#schemaChecked) {
      this.#run(checkSchema(this.#where))
      this.#schemaChecked = true
    }
    return this.#run(steps)
  }

  /** The database, as messages name it. */
  get #where(): string {
    return this.#settings?.file?.path ?? 'the database'
  }

  #run<T>(steps: Steps<T>): T {
    return runSteps(steps, (statement) => this.#handle.run(statement))
  }

  #traces(): Traces {
    if (this.#settings === undefined) return 'unknown'
    const { file } = this.#settings
    return file === undefined ? 'none' : { file: `${file.path}-wal` }
  }

  #look(asked: boolean): boolean {
    try {
      if (!this.#handle.isOpen() || this.#handle.inTransaction()) return false
      // A number of this connection's own, which changes when another one has committed.
      const [row] = this.#handle.run(query('pragma data_version')).rows
      const version = row === undefined ? undefined : numberOf(row, 'data_version')
      if (!asked && version !== undefined && version === this.#seenVersion) return false
      this.#seenVersion = undefined // should this look fail, the next one is not to find everything known
      const states = this.#transact('read', () => this.#perform(this.#topics.read()))
      this.#seenVersion = version
      this.#topics.deliver(states)
      return true
    } catch {
      return false // whoever calls the backend is told what is wrong; the next look may succeed
    }
  }
}
