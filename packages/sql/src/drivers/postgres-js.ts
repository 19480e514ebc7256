/** `postgres` (Postgres.js): what `postgres()` gives. */
import {
  inlined,
  type ListenEvents,
  type Listener,
  type MessageLimits,
  type PostgresPool,
  type Prepared,
  preamble,
  type Rows,
} from '../postgres/pool.js'
import { unlessAborted } from '../servers/attempts.js'
import { ConnectionTrouble } from '../trouble.js'

interface Reserved {
  unsafe(text: string): PromiseLike<unknown>
  release(): void
}

/** What `postgres()` gives. */
export interface PostgresJs {
  unsafe(text: string): PromiseLike<unknown>
  reserve(): Promise<object>
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen?: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>
  readonly options: object
}

export function isPostgresJs(given: object): given is PostgresJs {
  return (
    'unsafe' in given &&
    typeof given.unsafe === 'function' &&
    'listen' in given &&
    typeof given.listen === 'function' &&
    'options' in given
  )
}

export function postgresJsPool(sql: PostgresJs): PostgresPool {
  return new PoolOfPostgresJs(sql)
}

class PoolOfPostgresJs implements PostgresPool {
  readonly #sql: PostgresJs

  constructor(sql: PostgresJs) {
    this.#sql = sql
  }

  async execute(statement: Prepared, args: readonly string[], limits: MessageLimits): Promise<Rows> {
    const [result] = await this.script([inlined(statement, args)], limits)
    return result ?? []
  }

  async script(
    statements: readonly string[],
    { signal, statementMs }: MessageLimits,
  ): Promise<readonly Rows[]> {
    // By reserving a connection, and not by cancelling: a query that waits in the driver would be sent although nobody waits for it any
    // more, and one that is cancelled while its connection is being opened keeps that for good (seen with 3.4.9).
    const connection = await this.#reserve(signal)
    // Without parameters it goes as one message, and is answered by a list of results.
    const pending = Promise.resolve(connection.unsafe(`${preamble(statementMs)}; ${statements.join('; ')}`))
    const release = () => connection.release()
    pending.then(release, release)
    return resultsOf(await unlessAborted(pending, signal)).slice(-statements.length)
  }

  async #reserve(signal: AbortSignal): Promise<Reserved> {
    try {
      const reserving = this.#sql.reserve().then(reserved)
      return await unlessAborted(reserving, signal, (late) => late.release())
    } catch (error) {
      if (!signal.aborted) throw error
      throw new ConnectionTrouble(
        'the pool gave no connection in all that time; enlarge it, or give Simba a pool of its own',
        { cause: error },
      )
    }
  }

  /** The driver keeps a connection for all that is listened to, and connects anew by itself. */
  async listen(events: ListenEvents): Promise<Listener> {
    const channels = new Map<string, { unlisten(): Promise<void> }>()
    const sql = this.#sql
    return {
      async run(commands) {
        for (const command of commands.split('; ')) {
          const [verb, channel = ''] = command.split(/[ ,]+/, 2)
          if (verb === 'listen') {
            let heard = false
            const onListen = () => {
              // Not the first time: the connection was lost, and what came meanwhile has been missed.
              if (heard) events.onLost()
              heard = true
            }
            const listening = sql.listen(
              channel,
              (payload) => events.onNotification(channel, payload),
              onListen,
            )
            channels.set(channel, await listening)
          } else if (verb === 'unlisten') {
            await channels.get(channel)?.unlisten()
            channels.delete(channel)
          } else await sql.unsafe(command)
        }
      },
      async close() {
        await Promise.allSettled([...channels.values()].map((listening) => listening.unlisten()))
        channels.clear()
      },
    }
  }
}

function reserved(given: object): Reserved {
  if (isReserved(given)) return given
  throw new ConnectionTrouble('postgres gave something that is no connection')
}

function isReserved(given: object): given is Reserved {
  return 'unsafe' in given && 'release' in given && typeof given.release === 'function'
}

/** Of several statements it gives those results that have columns. */
function resultsOf(answer: unknown): readonly Rows[] {
  const results: readonly unknown[] = Array.isArray(answer) ? answer : []
  return results.map((rows) => {
    if (!Array.isArray(rows)) throw new ConnectionTrouble('postgres gave something that is no result')
    return rows
  })
}
