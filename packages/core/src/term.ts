/** A period of ownership, as the user sees it. */
import type { Duration } from './duration.js'
import type { RevokeReason } from './revoke-reason.js'

/**
 * One period in which this client owns a lease. The same object stays right for the whole period; a later period is another object.
 *
 * A valid term is a hint for when to begin a step, never a proof that nobody else owns the lease: the process may be paused between the
 * check and the write. Only the resource can refuse a stale holder: hand `token` to every write (see `docs/fencing.md`).
 */
export interface Term {
  /** The lease's name in the backend, with the client's namespace. */
  readonly name: string

  /** The fencing token: greater than 0, and than that of every earlier term of this name. */
  readonly token: bigint

  /**
   * Whether the term has not ended and its session's deadline has not passed: a pure function of the monotonic clock, so it is right at
   * the first read after any pause. Once false, it stays false.
   */
  readonly isValid: boolean

  /** The time until the deadline in ms; 0 once the term has ended. Renewals move the deadline. */
  remaining(): number

  /**
   * Throws unless the term is valid for longer than this (default 0): call it before a step that must not begin near the end of a
   * term, with the time that the step is expected to take.
   *
   * @throws TermExpiredError
   */
  ensureValid(minRemaining?: Duration): void

  /** Settles once, when the term ends, with the reason. Never rejects. */
  readonly revoked: Promise<RevokeReason>

  /** Aborts when the term ends; the reason is a `TermRevokedError`. */
  readonly signal: AbortSignal

  /** Plain data for logs: the token as a decimal text, since JSON has no bigint. */
  toJSON(): { readonly name: string; readonly token: string; readonly isValid: boolean }
}

/** A term that is given back by its holder. `await using held = await lock.acquire()` does so at the end of the block. */
export interface LockTerm extends Term, AsyncDisposable {
  /**
   * Ends the term and gives the lease back. Settles when that is done, or after one call timeout (the lease then goes with its session,
   * or at the next renewal). Idempotent; never rejects.
   */
  release(): Promise<void>
}
