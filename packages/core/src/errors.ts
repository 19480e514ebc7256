/**
 * Every error that Simba throws. A message says what was given, what is allowed, and what to do.
 *
 * `instanceof` fails when two copies of this package are loaded (an ESM and a CommonJS one, say): tell errors apart by `code`,
 * or with {@link isSimbaError}.
 */
import type { RevokeReason } from './revoke-reason.js'

/** The stable code of each error. */
export type SimbaErrorCode =
  | 'SIMBA_CONFIG'
  | 'SIMBA_LEASE_NAME'
  | 'SIMBA_ALREADY_STARTED'
  | 'SIMBA_CLOSED'
  | 'SIMBA_UNSUPPORTED'
  | 'SIMBA_LOCK_TIMEOUT'
  | 'SIMBA_TERM_EXPIRED'
  | 'SIMBA_TERM_REVOKED'
  | 'SIMBA_BACKEND'

/** The errors of each code, for {@link isSimbaError}. */
export interface SimbaErrors {
  SIMBA_CONFIG: ConfigError
  SIMBA_LEASE_NAME: LeaseNameError
  SIMBA_ALREADY_STARTED: AlreadyStartedError
  SIMBA_CLOSED: ClosedError
  SIMBA_UNSUPPORTED: UnsupportedError
  SIMBA_LOCK_TIMEOUT: LockTimeoutError
  SIMBA_TERM_EXPIRED: TermExpiredError
  SIMBA_TERM_REVOKED: TermRevokedError
  SIMBA_BACKEND: BackendError
}

/** Marks the errors of every copy of this package. */
const brand = Symbol.for('@simba/core.SimbaError')

/** The base class of all errors of Simba. */
export abstract class SimbaError extends Error {
  /** Stable across versions; the message is not. */
  abstract readonly code: SimbaErrorCode

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Tells whether a value is an error of Simba, and of the given code if one is given; also across two installed copies of this package.
 *
 * @example
 * if (isSimbaError(error, 'SIMBA_LOCK_TIMEOUT')) return busy(error.cause)
 */
export function isSimbaError(value: unknown): value is SimbaError
export function isSimbaError<C extends SimbaErrorCode>(value: unknown, code: C): value is SimbaErrors[C]
export function isSimbaError(value: unknown, code?: SimbaErrorCode): boolean {
  if (typeof value !== 'object' || value === null || !(brand in value)) return false
  return code === undefined || ('code' in value && value.code === code)
}

/** An option, argument or object that cannot work. */
export class ConfigError extends SimbaError {
  readonly code = 'SIMBA_CONFIG'
}

/** A lease or group name that not every backend could keep. */
export class LeaseNameError extends SimbaError {
  readonly code = 'SIMBA_LEASE_NAME'
}

/** A name that is already started on this client, as an election, lock, task, iteration or partition. */
export class AlreadyStartedError extends SimbaError {
  readonly code = 'SIMBA_ALREADY_STARTED'
}

/** A call on a client that is closed or closing. */
export class ClosedError extends SimbaError {
  readonly code = 'SIMBA_CLOSED'
}

/** Something that this backend has no way to do. */
export class UnsupportedError extends SimbaError {
  readonly code = 'SIMBA_UNSUPPORTED'
}

/** A lock that was not acquired in time. `cause` is the last `BackendError`, if the backend failed meanwhile. */
export class LockTimeoutError extends SimbaError {
  readonly code = 'SIMBA_LOCK_TIMEOUT'
}

/** A term on which no further step may begin. */
export abstract class TermEndedError extends SimbaError {}

/** `ensureValid` found that the term has ended, or that it has less time left than the step needs. */
export class TermExpiredError extends TermEndedError {
  readonly code = 'SIMBA_TERM_EXPIRED'
}

/** The term has been revoked: the reason of its `signal`, and what `withLock` rejects with when its term ended before its function. */
export class TermRevokedError extends TermEndedError {
  readonly code = 'SIMBA_TERM_REVOKED'
  readonly reason: RevokeReason
  /** What the function of `withLock` returned, if it succeeded after its term had ended. */
  readonly result?: unknown

  constructor(message: string, reason: RevokeReason, outcome?: { readonly result: unknown }) {
    super(message)
    this.reason = reason
    if (outcome !== undefined) this.result = outcome.result
  }
}

/** A call to the backend failed or was not answered in time; whether it took effect is unknown. */
export class BackendError extends SimbaError {
  readonly code = 'SIMBA_BACKEND'
}
