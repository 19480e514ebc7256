/** The port to one kind of database: what each backend call does there. One folder for each. */
import type {
  AcquireReply,
  CallOptions,
  Hint,
  HintSubscription,
  Inspection,
  InspectScope,
  JoinReply,
  KeepAliveReply,
  SessionId,
} from '@simba/core'

/**
 * What a store owes to its callers:
 *
 * - A call takes effect as a whole or not at all, and not after it has been aborted, if the driver can prevent it.
 * - What is worth another attempt (a busy database, a deadlock) is tried again within the call's time.
 * - It rejects with the signal's reason if the call was aborted, with `OutOfTime` if its time was over, and otherwise with the driver's
 *   error or a `ConnectionTrouble`.
 * - What the application gave stays open.
 *
 * Durations are whole milliseconds.
 */
export interface SqlStore {
  /** The name of the backend in messages. */
  readonly name: string
  /** The tables and indexes, as given to people; statements end in `;` at the end of a line. */
  readonly ddl: string

  openSession(id: SessionId, leaseMs: number, metadata: string, call: CallOptions): Promise<void>
  keepAlive(id: SessionId, leaseMs: number, call: CallOptions): Promise<KeepAliveReply>
  closeSession(id: SessionId, call: CallOptions): Promise<void>
  acquire(id: SessionId, name: string, call: CallOptions): Promise<AcquireReply>
  release(id: SessionId, name: string, token: bigint, call: CallOptions): Promise<void>
  join(id: SessionId, group: string, call: CallOptions): Promise<JoinReply>
  leave(id: SessionId, group: string, call: CallOptions): Promise<void>
  members(group: string, call: CallOptions): Promise<readonly SessionId[]>
  inspect(scope: InspectScope, call: CallOptions): Promise<Inspection>

  /** Deletes sessions that have expired, and what they were members of, up to a limit; answers how many sessions. */
  purgeExpired(limit: number, call: CallOptions): Promise<number>
  /** Makes the tables; safe if several processes do so at once. */
  createSchema(call: CallOptions): Promise<void>

  /** Absent where the database has no way to tell. */
  readonly hints?: ((listener: (hint: Hint) => void) => HintSubscription) | undefined

  /** What a driver's error means and what to do, as the end of a sentence; `undefined` if its own message says all that is known. */
  explain(error: unknown): string | undefined
}
