/**
 * What a client reports. Reading only these, a person can tell "another node holds it" (`LeaseHeld`) from "the backend cannot be reached"
 * (`BackendCallFailed`, `SessionSuspended`), and why each term ended (`Revoked`).
 *
 * New kinds of events may be added in minor versions: ignore those that you do not know.
 */
import type { SessionId } from './backend.js'
import type { RevokeReason } from './revoke-reason.js'

/** The calls of a backend. */
export type BackendCallName =
  | 'openSession'
  | 'keepAlive'
  | 'closeSession'
  | 'acquire'
  | 'release'
  | 'join'
  | 'leave'
  | 'members'
  | 'hints'

/** Why a session ended. */
export type SessionEndReason = 'DEADLINE_PASSED' | 'SESSION_EXPIRED' | 'CLOSED'

/** How a piece of work ended: by itself, by an error, or by an error or rejection after its term had ended. */
export type WorkOutcome = 'SUCCEEDED' | 'FAILED' | 'CANCELLED'

/** An error as plain data. */
export interface FlatError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: FlatError
}

export type SimbaEvent =
  /** A session is open: elections compete, groups are joined. */
  | { readonly type: 'SessionOpened'; readonly session: SessionId; readonly validMs: number }
  /** A renewal failed. Terms stay valid until the deadline, in `validMs`, unless a later renewal succeeds. */
  | {
      readonly type: 'SessionSuspended'
      readonly session: SessionId
      readonly validMs: number
      readonly error: FlatError
    }
  /** A renewal succeeded again. */
  | { readonly type: 'SessionResumed'; readonly session: SessionId; readonly validMs: number }
  /** The session is over, and every term with it. Unless the client is closed, a new session is opened. */
  | { readonly type: 'SessionEnded'; readonly session: SessionId; readonly reason: SessionEndReason }
  /** The backend grants too little time for two renewals, so the client renews every `renewMs`. Once per session. */
  | {
      readonly type: 'SessionLeaseShortened'
      readonly session: SessionId
      readonly askedMs: number
      readonly grantedMs: number
      readonly renewMs: number
    }
  /** A term began. */
  | { readonly type: 'Elected'; readonly name: string; readonly token: bigint }
  /** A term ended. */
  | {
      readonly type: 'Revoked'
      readonly name: string
      readonly token: bigint
      readonly reason: RevokeReason
    }
  /** Another session holds the lease. Published at the first attempt that finds it so, and when the holder has changed. */
  | { readonly type: 'LeaseHeld'; readonly name: string; readonly holder: SessionId | undefined }
  /** A lease that the backend had for this session, but nobody here, was given back: a call had timed out and taken effect later, say. */
  | { readonly type: 'OrphanReleased'; readonly name: string; readonly token: bigint }
  /** The backend gave a token that is not above an earlier one: it has lost data, and fencing may refuse this term's writes. */
  | {
      readonly type: 'TokenWentBack'
      readonly name: string
      readonly token: bigint
      readonly highest: bigint
    }
  /** A call to the backend failed or was not answered in time; whether it took effect is unknown. */
  | {
      readonly type: 'BackendCallFailed'
      readonly call: BackendCallName
      /** The lease or group that the call was about. */
      readonly name: string | undefined
      readonly tookMs: number
      readonly timedOut: boolean
      readonly error: FlatError
    }
  /** A run of a leader task, a schedule or a partition has ended. (What a `withLock` function comes to is its caller's to know.) */
  | {
      readonly type: 'WorkCompleted'
      readonly name: string
      readonly token: bigint
      readonly outcome: WorkOutcome
      readonly tookMs: number
      readonly error?: unknown
    }
  /** The view of a group changed: its members, and the partitions that are this client's. */
  | {
      readonly type: 'GroupChanged'
      readonly group: string
      readonly members: readonly SessionId[]
      readonly partitions: readonly number[]
    }
  /** Timers ran this much too late, which ended (`cost`) or endangered the terms: the event loop was blocked, or the process stood still. */
  | { readonly type: 'EventLoopBlocked'; readonly blockedMs: number; readonly cost: boolean }
  /** An acquire has been waiting for a whole lease behind a term of this same client: is it waiting for itself? */
  | { readonly type: 'LockWaitsLong'; readonly name: string; readonly waitedMs: number }
  /** A callback or an event listener of the user threw. */
  | {
      readonly type: 'CallbackFailed'
      readonly callback: 'onElected' | 'onRevoked' | 'listener'
      readonly name: string | undefined
      readonly error: unknown
    }
