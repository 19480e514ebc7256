/** Why a term ended. */
export type RevokeReason =
  /** The election was stopped, the lock released, or the client closed. */
  | 'STOPPED'
  /** The election stepped down. */
  | 'STEPPED_DOWN'
  /** The session's local deadline passed without a successful renewal. */
  | 'DEADLINE_PASSED'
  /** The backend said that the session has expired. */
  | 'SESSION_EXPIRED'
  /** A renewal no longer listed the lease as this session's. */
  | 'TAKEN_OVER'
