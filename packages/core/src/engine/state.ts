/**
 * The engine's state. It is owned by the engine and changed in place (ADR 0002), a phase always being replaced as a whole, so that
 * each phase carries only the fields that mean something in it. The invariants that hold between steps are in `invariants.ts`.
 */
import type { Session, SessionId } from '../backend.js'
import type { FlatError } from '../events.js'
import type { RevokeReason } from '../revoke-reason.js'
import type { Effect, Request, Slot } from './effect.js'
import type { ElectionKind } from './event.js'
import type { Timing } from './timing.js'

/** The client's session in the backend. */
export type SessionPhase =
  /** Nothing has needed a session yet. */
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'opening'
      /** The request in flight, if any; else the next one is due at `retryAt`. */
      readonly request: number | undefined
      readonly retryAt: number
      readonly failures: number
    }
  | OpenSession
  | { readonly phase: 'ended' }

export interface OpenSession {
  readonly phase: 'open'
  readonly session: Session
  deadline: number
  /** The renewal period in force, and how long a call may take. */
  periodMs: number
  shortened: boolean
  /** Whether the last renewal failed. */
  suspended: boolean
  /** The keep-alive in flight, if any; else the next one is due at `renewAt`. */
  keepAlive: number | undefined
  renewAt: number
  /** The id of the latest keep-alive that was answered: an answer to an earlier one is old news. 0 before the first answer. */
  answered: number
}

/** One period of ownership, from its adoption until its hand-over is finished. */
export interface TermState {
  readonly id: number
  readonly token: bigint
  /** Requests with at least this id were sent after the adoption. */
  readonly adoptedBefore: number
  /** Whether work of this term is still running. */
  working: boolean
}

/** What follows when a hand-over is finished. `calls` are the step-downs that wait for it. */
export type Afterwards =
  | { readonly kind: 'stop'; readonly calls: readonly number[] }
  | { readonly kind: 'cooldown'; readonly until: number; readonly calls: readonly number[] }

export type ElectionPhase =
  | {
      readonly phase: 'candidate'
      /** The acquire in flight, if any. */
      attempt: number | undefined
      /** When to try again; without meaning while an attempt is in flight or there is no session. */
      retryAt: number
      /** A `released` hint came during the attempt. */
      hinted: boolean
      /** The ended term whose work must exit before this election competes again. */
      readonly busy: number | undefined
    }
  | { readonly phase: 'leader'; readonly term: TermState }
  /** Revoked; the lease is kept until the work exits, or until the deadline as it stood when the hand-over began. */
  | {
      readonly phase: 'handover'
      readonly term: TermState
      readonly reason: RevokeReason
      readonly until: number
      readonly next: Afterwards
    }
  /** Revoked; the lease is being released (by the session's closing if there is no request). */
  | {
      readonly phase: 'releasing'
      readonly term: TermState
      readonly reason: RevokeReason
      readonly request: number | undefined
      readonly next: Afterwards
    }
  | {
      readonly phase: 'cooldown'
      readonly until: number
      /** As a candidate's. */
      readonly busy: number | undefined
    }

export type PhaseOf<P extends ElectionPhase['phase']> = Extract<ElectionPhase, { readonly phase: P }>

export interface Election {
  readonly name: string
  readonly slot: Slot
  readonly start: number
  readonly kind: ElectionKind
  phase: ElectionPhase
  /** Whether hints for the name are being watched. */
  watching: boolean
  /** Whom the last attempt found as the holder: `undefined` if none did yet. */
  heldBy: { readonly holder: SessionId | undefined } | undefined
}

export type GroupPhase =
  | { readonly phase: 'joining'; readonly request: number | undefined; readonly retryAt: number }
  | {
      readonly phase: 'member'
      /** Requests with at least this id were sent after the join was answered. */
      readonly joinedBefore: number
      readonly refresh: number | undefined
      readonly refreshAt: number
      /** A hint came during the refresh. */
      readonly hinted: boolean
    }
  /** The user stopped it and waits for the first answer to the leave. */
  | { readonly phase: 'leaving'; readonly request: number }
  /** Nobody waits, but the session may still be, or become, a member: leave again until that is settled. */
  | { readonly phase: 'departed'; readonly request: number | undefined; readonly retryAt: number }

export interface Group {
  readonly name: string
  start: number
  phase: GroupPhase
  /** Joins without an answer: each may still take effect. Bounded: the latest are as good as all. */
  doubts: Set<number>
  /** A join was answered while a leave was in flight, and may have taken effect after it: leave once more. */
  leaveAgain: boolean
}

/** What is remembered of a name's tokens. */
export interface TokenMemory {
  /** The greatest token ever adopted. */
  seen: bigint
  /** The greatest token that the session with this id released. */
  released: bigint
  releasedBy: SessionId | undefined
  /** Requests with a smaller id than this were sent before the last release was answered. */
  releaseAnswered: number
}

/**
 * Releases without an answer. Each may still take effect, so a token up to this one must not be adopted before one of them is answered.
 */
export interface PendingRelease {
  /** The greatest token without an answer; 0 if none. */
  readonly token: bigint
  /** Those in flight; the others have failed or timed out. */
  readonly requests: readonly number[]
  /** The last that was sent, in flight or not. */
  readonly latest: number
}

/** A session of ours that may live on in the backend although nobody here uses it. */
export interface AbandonedSession {
  readonly session: Session
  request: number | undefined
  readonly until: number
}

export type Lifecycle =
  | { readonly phase: 'running' }
  | {
      readonly phase: 'closing'
      readonly force: boolean
      /** The elections whose work was waited for when the closing began; of its end, those that are done with are dropped. */
      readonly working: Election[]
      /** Terms that are over although the work of others is still waited for: their leases are given back one by one. */
      readonly finished: Election[]
      /** Set once no work is waited for: the session's closing must be over by then. */
      readonly until: number | undefined
      /** The `closeSession` in flight, if any; else the next one is due at `retryAt`. */
      readonly request: number | undefined
      readonly retryAt: number
    }
  | { readonly phase: 'closed' }

export interface EngineState {
  readonly timing: Timing
  /** The word of the pseudo-random generator: jitter is a function of state and events. */
  random: number
  /** The next id of a request or a term. */
  nextId: number
  lifecycle: Lifecycle
  session: SessionPhase
  readonly abandoned: Map<SessionId, AbandonedSession>
  /** The elections, by name and by slot. */
  readonly elections: Map<string, Election>
  readonly slots: { readonly elections: (Election | undefined)[]; readonly free: Slot[] }
  /** The elections that have a term: followers may be many more, and cost a renewal nothing. */
  readonly terms: Map<string, Election>
  readonly groups: Map<string, Group>
  /** Tokens of the names that are started. */
  readonly tokens: Map<string, TokenMemory>
  /** Tokens of names that are not started any more, the latest last; bounded. */
  readonly retiredTokens: Map<string, TokenMemory>
  /** The acquires in flight that nobody waits for any more: what they win is given back. */
  readonly givenUp: Map<string, number>
  /** Releases of this session that have not been answered, by name. */
  readonly releases: Map<string, PendingRelease>
  /** How many sessions in a row expired before their first renewal. */
  shortLived: number
  /** Why the last attempt to open a session failed. */
  openingError: FlatError | undefined
  /** The effects of the step in progress. */
  out: Effect[]
}

export function createState(timing: Timing, seed: number): EngineState {
  return {
    timing,
    random: seed | 0,
    nextId: 1,
    lifecycle: { phase: 'running' },
    session: { phase: 'idle' },
    abandoned: new Map(),
    elections: new Map(),
    slots: { elections: [], free: [] },
    terms: new Map(),
    groups: new Map(),
    tokens: new Map(),
    retiredTokens: new Map(),
    givenUp: new Map(),
    releases: new Map(),
    shortLived: 0,
    openingError: undefined,
    out: [],
  }
}

/** The next number in [0, 1): mulberry32. */
export function nextRandom(state: EngineState): number {
  state.random = (state.random + 0x6d2b79f5) | 0
  let word = state.random
  word = Math.imul(word ^ (word >>> 15), word | 1)
  word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
  return ((word ^ (word >>> 14)) >>> 0) / 4294967296
}

/** The open session, if there is one. */
export function openSessionOf(state: EngineState): OpenSession | undefined {
  return state.session.phase === 'open' ? state.session : undefined
}

/** Whether a request was made in the session that is open now. */
export function isCurrent(state: EngineState, session: Session): boolean {
  return state.session.phase === 'open' && state.session.session.id === session.id
}

/** Asks for a backend call and returns its request's id. */
export function call(state: EngineState, timeoutMs: number, request: (id: number) => Request): number {
  const id = state.nextId++
  state.out.push({ type: 'call', request: request(id), timeoutMs })
  return id
}

/** The term that an election holds or is handing over. */
export function termOf(election: Election): TermState | undefined {
  const { phase } = election
  return phase.phase === 'leader' || phase.phase === 'handover' || phase.phase === 'releasing'
    ? phase.term
    : undefined
}

/** Makes a missing case of a union a compile error. */
export function unreachable(value: never): never {
  throw new Error(`Impossible: ${JSON.stringify(value)}`)
}
