/**
 * What the engine may ask for. Effects are ordered plain data, and the shell's duties are:
 *
 * 1. to carry them out in their order, and completely before the next step;
 * 2. to answer each `call` (but `watch` and `unwatch`) with a `reply` within its `timeoutMs`, and to pass on a success that came later;
 * 3. to send one `timer` event when an armed time has come; arming a timer again replaces it;
 * 4. to make a `deadline` and a `revoked` visible to readers of a term before anything else follows from them.
 */
import type { HintTopic, Session, SessionId } from '../backend.js'
import type { FlatError, SimbaEvent } from '../events.js'
import type { RevokeReason } from '../revoke-reason.js'

/** One request to the backend. `id`s rise with each request, so a smaller one was sent earlier. */
export type Request =
  | { readonly op: 'openSession'; readonly id: number }
  | { readonly op: 'keepAlive'; readonly id: number; readonly session: Session }
  | { readonly op: 'closeSession'; readonly id: number; readonly session: Session }
  | {
      readonly op: 'acquire'
      readonly id: number
      readonly session: Session
      readonly name: string
      readonly slot: Slot
    }
  | {
      readonly op: 'release'
      readonly id: number
      readonly session: Session
      readonly name: string
      readonly token: bigint
    }
  | { readonly op: 'join'; readonly id: number; readonly session: Session; readonly group: string }
  | { readonly op: 'leave'; readonly id: number; readonly session: Session; readonly group: string }
  | { readonly op: 'members'; readonly id: number; readonly session: Session; readonly group: string }

export type RequestOf<Op extends Request['op']> = Extract<Request, { readonly op: Op }>

/** Where an election lives. A slot that is free again is taken by the next election that starts. */
export type Slot = number

/** What a timer is for: the session's next renewal or opening, its deadline, and so on. One timer of each key at most. */
export type TimerKey =
  | 'renew'
  | 'deadline'
  | 'abandoned'
  | 'close'
  | `group:${string}`
  /** The election in this slot. */
  | Slot

/** Something that the user's side waits for. */
export type Completion =
  /** The hand-over of a term is finished: `onRevoked` is due. */
  | {
      readonly kind: 'term'
      readonly name: string
      readonly start: number
      readonly term: number
      readonly reason: RevokeReason
    }
  | { readonly kind: 'stepDown'; readonly name: string; readonly start: number; readonly call: number }
  /** The election has ended, and its name is free on this client. */
  | { readonly kind: 'stop'; readonly name: string; readonly start: number }
  | { readonly kind: 'groupStop'; readonly group: string; readonly start: number }
  /** The client is closed; `leftMs` is what is left of the time for the backend. */
  | { readonly kind: 'close'; readonly leftMs: number }

/** How an attempt of a lock went that was not granted. */
export type AttemptOutcome =
  | { readonly kind: 'held'; readonly holder: SessionId | undefined }
  | { readonly kind: 'failed'; readonly error: FlatError }

export type Effect =
  | { readonly type: 'call'; readonly request: Request; readonly timeoutMs: number }
  | { readonly type: 'watch'; readonly topic: HintTopic }
  | { readonly type: 'unwatch'; readonly topic: HintTopic }
  /** Arms a timer for a time, or disarms it. */
  | { readonly type: 'arm'; readonly timer: TimerKey; readonly at: number | undefined }
  /** The session's deadline from now on; `-Infinity` once it has ended. */
  | { readonly type: 'deadline'; readonly at: number }
  | {
      readonly type: 'elected'
      readonly name: string
      readonly start: number
      readonly term: number
      readonly token: bigint
    }
  /** The term has ended; its hand-over may still go on until the `complete` of the term. */
  | {
      readonly type: 'revoked'
      readonly name: string
      readonly start: number
      readonly term: number
      readonly reason: RevokeReason
    }
  /** An attempt was not granted; told of locks only. */
  | {
      readonly type: 'attempted'
      readonly name: string
      readonly start: number
      readonly outcome: AttemptOutcome
    }
  | { readonly type: 'complete'; readonly completion: Completion }
  /** The view of a group; without a session there is none, and nothing is assigned to this client. */
  | {
      readonly type: 'members'
      readonly group: string
      readonly start: number
      readonly session: SessionId | undefined
      readonly members: readonly SessionId[]
    }
  | { readonly type: 'publish'; readonly event: SimbaEvent }
