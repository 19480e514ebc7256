/**
 * The SPI: what a backend must do for Simba, and nothing that only one kind of backend knows.
 *
 * Every method makes a bounded number of calls. Every remaining time is a duration, measured by the backend's own clock: a client never
 * compares its wall clock with the backend's. A rule broken here is a rule broken for everybody, so `@simba/tck` tests each of them.
 *
 * Rules that every backend keeps:
 *
 * - B1 A session that is not renewed within its lease duration expires.
 * - B2 An expired session is never revived: `keepAlive`, `acquire` and `join` answer `expired` from then on.
 * - B3 A lease belongs to its session only while that session lives.
 * - B4 A lease's token is greater than zero, rises strictly with each new term of that name, and is never reset.
 * - B5 `release` frees a lease only if the session and the token both match; otherwise it changes nothing.
 * - B6 A member belongs to a group only while its session lives.
 * - B7 An `acquire` by the session that already owns the lease is granted again, with the token that it already has: a call whose reply was
 *   lost can be repeated.
 */

/** Identifies one session for ever: ids are never used twice. */
export type SessionId = string

/** A session as a backend is told of it at each call: backends need not remember anything about the sessions of their clients. */
export interface Session {
  readonly id: SessionId
  /** The lease duration that the client asked for at `openSession`, in ms. */
  readonly leaseMs: number
}

/** Bounds one backend call. */
export interface CallOptions {
  /** Aborts when the caller no longer waits. An aborted call must not take effect later if the driver can prevent it. */
  readonly signal: AbortSignal
  /** How long the caller waits, in ms; for backends that can bound a call at the server. */
  readonly timeoutMs: number
}

/** The answer to {@link LeaseBackend.openSession}. */
export interface OpenedSession {
  readonly id: SessionId
  /** How long the session lives without a renewal, in ms; may be less than asked for. */
  readonly remainingMs: number
}

/** A lease that a session owns. */
export interface OwnedLease {
  readonly name: string
  readonly token: bigint
}

/** The answer to {@link LeaseBackend.keepAlive}. */
export type KeepAliveReply =
  | {
      readonly kind: 'renewed'
      /** How long the session lives from this renewal on, in ms. */
      readonly remainingMs: number
      /** Everything that the session owns after this renewal; no lease of it is missing, and none of another's is listed. */
      readonly owned: readonly OwnedLease[]
    }
  | { readonly kind: 'expired' }

/** The answer to {@link LeaseBackend.acquire}. */
export type AcquireReply =
  | { readonly kind: 'granted'; readonly token: bigint }
  | {
      readonly kind: 'held'
      /** Who holds it, where the backend can tell. */
      readonly holder?: SessionId
    }
  | { readonly kind: 'expired' }

/** The answer to {@link LeaseBackend.join}. */
export type JoinReply = { readonly kind: 'joined' } | { readonly kind: 'expired' }

/** Something that a client may want to hear of at once. */
export type HintTopic =
  | { readonly kind: 'lease'; readonly name: string }
  | { readonly kind: 'group'; readonly group: string }

/** News from the backend: a lease was released, or a group's members changed. */
export type Hint =
  | { readonly kind: 'released'; readonly name: string }
  | { readonly kind: 'members'; readonly group: string }

/** A subscription to hints. `watch` and `unwatch` return at once, never throw, and are idempotent. */
export interface HintSubscription {
  watch(topic: HintTopic): void
  unwatch(topic: HintTopic): void
  /** Ends the subscription and frees what it holds; nothing is delivered after it settled. Never rejects. */
  close(): Promise<void>
}

/** What {@link LeaseBackend.inspect} is asked for. */
export type InspectScope = { readonly kind: 'all' } | { readonly kind: 'lease'; readonly name: string }

/** What a backend holds now, for operators. It answers "who leads, and since which token?", never "may I act?". */
export interface Inspection {
  readonly sessions: readonly {
    readonly id: SessionId
    readonly remainingMs: number
    /** As given to `openSession`. */
    readonly metadata: string
  }[]
  readonly leases: readonly {
    readonly name: string
    /** The live session that owns it; absent when the lease is free. */
    readonly holder?: SessionId
    readonly token: bigint
  }[]
  readonly groups: readonly { readonly group: string; readonly members: readonly SessionId[] }[]
}

/**
 * Where sessions, leases and groups live.
 *
 * A method that cannot tell whether its call took effect rejects (with a `BackendError` where it can say more than the driver): the caller
 * treats every rejection as "may have taken effect".
 */
export interface LeaseBackend {
  /** A short name for messages, such as `sqlite`. */
  readonly name: string

  /** Opens a session that lives for `leaseMs` unless it is renewed. `metadata` is a JSON text of at most 1024 characters. */
  openSession(
    request: { readonly leaseMs: number; readonly metadata: string },
    call: CallOptions,
  ): Promise<OpenedSession>

  /** Renews the session for a whole lease duration, and lists what it owns; or says that it has expired. */
  keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply>

  /** Frees the session's leases and memberships at once. Idempotent: repeating it completes what an earlier call left. */
  closeSession(session: Session, call: CallOptions): Promise<void>

  /** Takes the lease if it is free, or if its session has expired. One attempt, no waiting for the holder. */
  acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply>

  /** Frees the lease if this session owns it with this token. Idempotent; says nothing about what it found. */
  release(session: Session, name: string, token: bigint, call: CallOptions): Promise<void>

  /** Makes the session a member of the group. Idempotent. */
  join(session: Session, group: string, call: CallOptions): Promise<JoinReply>

  /** Ends the session's membership. Idempotent. */
  leave(session: Session, group: string, call: CallOptions): Promise<void>

  /** The live members, in no particular order. A `join` that has returned is in the view. */
  members(group: string, call: CallOptions): Promise<readonly SessionId[]>

  /**
   * Delivers hints for the topics watched. A hint may be late, repeated, superfluous or lost: polling stands behind it.
   * The listener never throws. Absent where the backend has no way to tell.
   */
  hints?(listener: (hint: Hint) => void): HintSubscription

  /** Lists what the backend holds now. Absent where it cannot tell. */
  inspect?(scope: InspectScope, call: CallOptions): Promise<Inspection>

  /**
   * Frees what the backend made for itself; never a pool, client or database that the user gave. Called once by each `Simba` that used
   * the backend, so it must leave alone what others still use. Idempotent.
   */
  close(): Promise<void>
}
