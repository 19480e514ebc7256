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
export type { ElectionListener } from './client/callbacks.js'
export type { Holder, SimbaInspection } from './client/inspect.js'
export type { LeaderTask } from './client/leader-task.js'
export type { SessionState } from './client/session-view.js'
export type { Work } from './client/work.js'
export type { Logger, SimbaOptions } from './config.js'
export { type Duration, toMs } from './duration.js'
export type { Election, StartOptions } from './election.js'
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
export type { BackendCallName, FlatError, SessionEndReason, SimbaEvent, WorkOutcome } from './events.js'
export type { GroupOptions, GroupTask, PartitionGroup, PartitionWork } from './group.js'
export type { Health, HealthStatus } from './health.js'
export type { AcquireOptions, Lock } from './lock.js'
export { ownerOf, partitionsOf } from './rendezvous.js'
export type { RevokeReason } from './revoke-reason.js'
export type { CancelTimer, Clock } from './runtime/clock.js'
export { SystemClock, type TimeSources } from './runtime/system-clock.js'
export { Schedule, type ScheduleOptions } from './schedule.js'
export { Simba } from './simba.js'
export type {
  ElectionSnapshot,
  GroupSnapshot,
  LockSnapshot,
  RunSnapshot,
  SimbaSnapshot,
} from './snapshot.js'
export type { LockTerm, Term } from './term.js'
