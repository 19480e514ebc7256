import type { CallOptions, Hint, HintSubscription } from '@simba/core'
import type { Steps } from './steps.js'

/** Notes what other nodes may want to hear of; it becomes known once the transaction has been committed, and not otherwise. */
export type Announce = (news: Hint) => void

/** Work for one transaction. It is begun anew for each attempt, so it must keep nothing of an attempt outside. */
export type Work<T> = (announce: Announce) => Steps<T>

/** `write` locks what it will change before it reads; `read` sees one state of the database throughout. */
export type Access = 'read' | 'write'

/**
 * The port to a database: one connection or a pool of them.
 *
 * What a connection owes to its callers:
 *
 * - Work takes effect as a whole or not at all, and not after the call has been aborted, if the driver can prevent it.
 * - What is worth another attempt (a busy database, a deadlock) is tried again within the call's time.
 * - It rejects with the signal's reason if the call was aborted, with `OutOfTime` if its time was over, and otherwise with the driver's
 *   error or a `ConnectionTrouble`.
 * - What the application gave stays open.
 */
export interface SqlConnections {
  transaction<T>(access: Access, work: Work<T>, call: CallOptions): Promise<T>

  /** Makes the tables; safe if several processes do so at once. */
  createSchema(call: CallOptions): Promise<void>

  /** Absent where the database has no way to tell. */
  hints?(listener: (hint: Hint) => void): HintSubscription
}

/** Something wrong that no driver told us; the message says what and what to do, in a half-sentence. */
export class ConnectionTrouble extends Error {
  override readonly name: string = 'ConnectionTrouble'
}

/** A call ran out of time; `cause` tells what was in the way, if it was attempted at all. */
export class OutOfTime extends Error {
  override readonly name: string = 'OutOfTime'
  readonly waitedMs: number

  constructor(waitedMs: number, cause: unknown) {
    super(`gave up after ${Math.round(waitedMs)} ms`, { cause })
    this.waitedMs = waitedMs
  }
}
