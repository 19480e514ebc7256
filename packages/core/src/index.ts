export type {
  AcquireReply,
  CallOptions,
  Hint,
  HintSubscription,
  HintTopic,
  Inspection,
  InspectScope,
  JoinReply,
  KeepAliveReply,
  LeaseBackend,
  OpenedSession,
  OwnedLease,
  Session,
  SessionId,
} from './backend.js'
export {
  AlreadyStartedError,
  BackendError,
  ClosedError,
  ConfigError,
  isSimbaError,
  LeaseNameError,
  LockTimeoutError,
  SimbaError,
  type SimbaErrorCode,
  type SimbaErrors,
  TermEndedError,
  TermExpiredError,
  TermRevokedError,
  UnsupportedError,
} from './errors.js'
export type { CancelTimer, Clock } from './runtime/clock.js'
export type { RevokeReason } from './term.js'
