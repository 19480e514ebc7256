/** Everything that can happen to the engine. */
import type { AcquireReply, Hint, JoinReply, KeepAliveReply, OpenedSession, SessionId } from '../backend.js'
import type { FlatError } from '../events.js'
import type { Request, RequestOf, TimerKey } from './effect.js'

/** How an election uses its terms. */
export type ElectionKind =
  /** Callbacks only: nothing delays a hand-over. */
  | 'plain'
  /** Runs work in each term, which a hand-over waits for. */
  | 'working'
  /** Like `working`, and does not compete again before the work of its last term has ended. */
  | 'exclusive'
  /** A lock: like `working`, and ends with its first term. */
  | 'lock'

/** What the user's side asks for. */
export type Command =
  /** Opens the session if there is none yet. */
  | { readonly type: 'boot' }
  | {
      readonly type: 'start'
      readonly name: string
      /** Identifies this start of the name. */
      readonly start: number
      readonly kind: ElectionKind
    }
  | { readonly type: 'stop'; readonly name: string; readonly start: number }
  | {
      readonly type: 'stepDown'
      readonly name: string
      readonly start: number
      readonly call: number
      readonly cooldownMs: number
    }
  | { readonly type: 'workExited'; readonly name: string; readonly start: number; readonly term: number }
  | { readonly type: 'join'; readonly group: string; readonly start: number }
  | { readonly type: 'leave'; readonly group: string; readonly start: number }
  /** Ends everything; with `force` without waiting for work. */
  | { readonly type: 'close'; readonly force: boolean }

/** What came of a request. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: FlatError; readonly timedOut: boolean }

interface ReplyValues {
  openSession: OpenedSession
  keepAlive: KeepAliveReply
  closeSession: undefined
  acquire: AcquireReply
  release: undefined
  join: JoinReply
  leave: undefined
  members: readonly SessionId[]
}

export type ReplyOf<Op extends Request['op']> = {
  readonly type: 'reply'
  readonly op: Op
  readonly request: RequestOf<Op>
  /** When the request was sent. */
  readonly sentAt: number
  readonly outcome: Outcome<ReplyValues[Op]>
}

/** An answer to a request, or that there was none in time. An answer may still follow then. */
export type Reply = { [Op in Request['op']]: ReplyOf<Op> }[Request['op']]

export type EngineEvent =
  | Command
  | { readonly type: 'timer'; readonly timer: TimerKey }
  /** Timers that were due this long ago have not run yet. */
  | { readonly type: 'late'; readonly lateMs: number }
  | Reply
  | { readonly type: 'hint'; readonly hint: Hint }
