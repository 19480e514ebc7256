/** `pg` (node-postgres): its `Pool`. */

import { isNotPrepared, isPreparedAlready } from '../postgres/errors.js'
import type { ListenEvents, Listener, MessageLimits, PostgresPool, Prepared, Rows } from '../postgres/pool.js'
import { inlined, preamble } from '../postgres/pool.js'
import { unlessAborted } from '../servers/attempts.js'
import type { SqlRow } from '../statement.js'
import { ConnectionTrouble } from '../trouble.js'

interface PgResult {
  readonly rows: readonly SqlRow[]
}

interface PgClient {
  query(text: string): Promise<unknown>
  on(event: 'error' | 'end' | 'notification', listener: (argument: unknown) => void): unknown
  off(event: 'error', listener: (argument: unknown) => void): unknown
}

interface PooledClient extends PgClient {
  release(destroy?: boolean): void
}

interface OwnClient extends PgClient {
  connect(): Promise<void>
  end(): Promise<void>
}

/** What `new Pool()` of `pg` gives. */
export interface PgPool {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  readonly options: object
  connect(): Promise<{ release(destroy?: boolean): void }>
  query(...given: never[]): unknown
}

export function isPgPool(given: object): given is PgPool {
  return (
    'totalCount' in given &&
    typeof given.totalCount === 'number' &&
    'connect' in given &&
    typeof given.connect === 'function' &&
    'query' in given &&
    typeof given.query === 'function'
  )
}

const ignore = () => {}

export function pgPool(pool: PgPool): PostgresPool {
  return new PoolOfPg(pool)
}

class PoolOfPg implements PostgresPool {
  readonly #pool: PgPool
  readonly #prepared = new WeakMap<object, Set<string>>()
  /** Behind a pooler, what was prepared on a connection may be on another one the next time. */
  #unpreparable = false

  constructor(pool: PgPool) {
    this.#pool = pool
  }

  execute(statement: Prepared, args: readonly string[], limits: MessageLimits): Promise<Rows> {
    return this.#use(limits.signal, async (client) => {
      const start = preamble(limits.statementMs)
      const done = this.#preparedOn(client)
      if (!this.#unpreparable) {
        try {
          const prepare = done.has(statement.name) ? '' : `${prepareText(statement)}; `
          const results = await send(
            client,
            `${start}; ${prepare}execute ${statement.name}(${args.join(', ')})`,
          )
          done.add(statement.name)
          return last(results)
        } catch (error) {
          if (isPreparedAlready(error)) done.add(statement.name)
          else if (isNotPrepared(error)) this.#unpreparable = true
          else throw error
        }
      }
      return last(await send(client, `${start}; ${inlined(statement, args)}`))
    })
  }

  script(statements: readonly string[], limits: MessageLimits): Promise<readonly Rows[]> {
    const message = `${preamble(limits.statementMs)}; ${statements.join('; ')}`
    return this.#use(limits.signal, async (client) => (await send(client, message)).slice(-statements.length))
  }

  async listen(events: ListenEvents): Promise<Listener> {
    const client = ownClient(this.#pool)
    client.on('error', events.onLost)
    client.on('end', events.onLost)
    client.on('notification', (message) => {
      if (isNotification(message)) events.onNotification(message.channel, message.payload ?? '')
    })
    await client.connect()
    return {
      run: async (sql) => void (await client.query(sql)),
      close: () => client.end().catch(ignore),
    }
  }

  #preparedOn(client: object): Set<string> {
    const known = this.#prepared.get(client) ?? new Set<string>()
    this.#prepared.set(client, known)
    return known
  }

  /** A connection whose statement was given up is not used again: nobody knows when it will be done. */
  async #use<T>(signal: AbortSignal, work: (client: PooledClient) => Promise<T>): Promise<T> {
    const client = await this.#checkOut(signal)
    client.on('error', ignore) // the statement that is under way is told too
    try {
      return await unlessAborted(work(client), signal)
    } finally {
      client.off('error', ignore)
      client.release(signal.aborted)
    }
  }

  async #checkOut(signal: AbortSignal): Promise<PooledClient> {
    try {
      const client = await unlessAborted(this.#pool.connect(), signal, (late) => late.release())
      if (isClient(client)) return client
      client.release()
    } catch (error) {
      if (!signal.aborted) throw error
      const { totalCount, idleCount } = this.#pool
      throw new ConnectionTrouble(
        `the pool gave no connection in all that time, ${totalCount - idleCount} being in use; enlarge it, or give Simba a pool of its own`,
        { cause: error },
      )
    }
    throw new ConnectionTrouble('the pool gave something that is no connection of pg')
  }
}

/** A client of its own, connected as those of the pool are. */
function ownClient(pool: PgPool): OwnClient {
  const Client: unknown = 'Client' in pool ? pool.Client : undefined
  if (typeof Client !== 'function') throw new ConnectionTrouble('the pool does not tell how to connect')
  const client: unknown = Reflect.construct(Client, [pool.options])
  if (isOwnClient(client)) return client
  throw new ConnectionTrouble('the pool makes something that is no connection of pg')
}

function isClient(given: unknown): given is PooledClient {
  return typeof given === 'object' && given !== null && 'query' in given && 'on' in given
}

function isOwnClient(given: unknown): given is OwnClient {
  return isClient(given) && 'connect' in given && 'end' in given
}

function isNotification(given: unknown): given is { readonly channel: string; readonly payload?: string } {
  return (
    typeof given === 'object' && given !== null && 'channel' in given && typeof given.channel === 'string'
  )
}

/** The results of all statements of a message. */
async function send(client: PgClient, message: string): Promise<readonly Rows[]> {
  const answer: unknown = await client.query(message)
  const results: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  return results.map((result) => {
    if (!isResult(result)) throw new ConnectionTrouble('pg gave something that is no result')
    return result.rows
  })
}

function isResult(given: unknown): given is PgResult {
  return typeof given === 'object' && given !== null && 'rows' in given && Array.isArray(given.rows)
}

function last(results: readonly Rows[]): Rows {
  return results.at(-1) ?? []
}

function prepareText({ name, types, text }: Prepared): string {
  return `prepare ${name}(${types.join(', ')}) as ${text}`
}
