import type {
  AcquireReply,
  Hint,
  Inspection,
  InspectScope,
  JoinReply,
  KeepAliveReply,
  OwnedLease,
  Session,
  SessionId,
} from '@simba/core'

interface LiveSession {
  expiresAt: number
  readonly metadata: string
  readonly leases: Map<string, bigint>
  readonly groups: Set<string>
}

/**
 * An expired session is swept at the latest when there are twice as many sessions as after the last sweep.
 */
const smallestSweep = 64

/**
 * Sessions, leases and groups, and every decision on them. Each method is one atomic step at the time `now`.
 *
 * Invariants:
 * - a lease or membership is in the index of its session exactly if it is in `leases` or `groups`;
 * - only owned leases and groups with members are kept: names that were freed take no memory;
 * - tokens come from one counter for all names, so that they rise without a record of the names.
 *
 * Expiry is decided when a session is next looked at; a session that has expired is removed then, with all it
 * had, and never comes back.
 */
export class MemoryState {
  readonly #sessions = new Map<SessionId, LiveSession>()
  readonly #leases = new Map<string, { readonly holder: SessionId; readonly token: bigint }>()
  readonly #groups = new Map<string, Set<SessionId>>()
  readonly #tell: (hint: Hint) => void
  #lastToken = 0n
  #sweepAt = smallestSweep

  constructor(tell: (hint: Hint) => void) {
    this.#tell = tell
  }

  open(id: SessionId, leaseMs: number, metadata: string, now: number): void {
    if (this.#sessions.size >= this.#sweepAt) this.#sweep(now)
    this.#sessions.set(id, { expiresAt: now + leaseMs, metadata, leases: new Map(), groups: new Set() })
  }

  keepAlive({ id, leaseMs }: Session, now: number): KeepAliveReply {
    const session = this.#live(id, now)
    if (session === undefined) return { kind: 'expired' }
    session.expiresAt = now + leaseMs
    const owned: OwnedLease[] = []
    for (const [name, token] of session.leases) owned.push({ name, token })
    return { kind: 'renewed', remainingMs: leaseMs, owned }
  }

  close(id: SessionId): void {
    const session = this.#remove(id)
    if (session === undefined) return
    for (const name of session.leases.keys()) this.#tell({ kind: 'released', name })
    for (const group of session.groups) this.#tell({ kind: 'members', group })
  }

  /** Ends the session as if its time had run out: nobody is told. */
  expire(id: SessionId): boolean {
    return this.#remove(id) !== undefined
  }

  acquire(id: SessionId, name: string, now: number): AcquireReply {
    const session = this.#live(id, now)
    if (session === undefined) return { kind: 'expired' }
    const lease = this.#leases.get(name)
    if (lease?.holder === id) return { kind: 'granted', token: lease.token }
    if (lease !== undefined && this.#live(lease.holder, now) !== undefined) {
      return { kind: 'held', holder: lease.holder }
    }
    this.#lastToken++
    this.#leases.set(name, { holder: id, token: this.#lastToken })
    session.leases.set(name, this.#lastToken)
    return { kind: 'granted', token: this.#lastToken }
  }

  release(id: SessionId, name: string, token: bigint): void {
    const lease = this.#leases.get(name)
    if (lease?.holder !== id || lease.token !== token) return
    this.#leases.delete(name)
    this.#sessions.get(id)?.leases.delete(name)
    this.#tell({ kind: 'released', name })
  }

  join(id: SessionId, group: string, now: number): JoinReply {
    const session = this.#live(id, now)
    if (session === undefined) return { kind: 'expired' }
    if (session.groups.has(group)) return { kind: 'joined' }
    session.groups.add(group)
    this.#addMember(group, id)
    this.#tell({ kind: 'members', group })
    return { kind: 'joined' }
  }

  leave(id: SessionId, group: string): void {
    if (this.#sessions.get(id)?.groups.delete(group) !== true) return
    this.#removeMember(group, id)
    this.#tell({ kind: 'members', group })
  }

  members(group: string, now: number): readonly SessionId[] {
    return [...(this.#groups.get(group) ?? [])].filter((id) => this.#live(id, now) !== undefined)
  }

  inspect(scope: InspectScope, now: number): Inspection {
    this.#sweep(now)
    const sessions = [...this.#sessions].map(([id, { expiresAt, metadata }]) => ({
      id,
      remainingMs: expiresAt - now,
      metadata,
    }))
    const leases = [...this.#leases].map(([name, lease]) => ({ name, ...lease }))
    const groups = [...this.#groups].map(([group, members]) => ({ group, members: [...members] }))
    if (scope.kind === 'all') return { sessions, leases, groups }
    const named = leases.filter(({ name }) => name === scope.name)
    return {
      sessions: sessions.filter(({ id }) => named.some(({ holder }) => holder === id)),
      leases: named,
      groups: [],
    }
  }

  /**
   * Forgets everything; with `resetTokens`, also which tokens were given out, which breaks rule B4 on
   * purpose.
   */
  lose(resetTokens: boolean): void {
    this.#sessions.clear()
    this.#leases.clear()
    this.#groups.clear()
    if (resetTokens) this.#lastToken = 0n
  }

  /** Remembers everything as it is now, and returns the way back to it. */
  checkpoint(): () => void {
    const lastToken = this.#lastToken
    const sessions = [...this.#sessions].map(([id, session]) => [id, copyOf(session)] as const)
    return () => {
      this.lose(false)
      this.#lastToken = lastToken
      for (const [id, session] of sessions) this.#restore(id, copyOf(session))
    }
  }

  #restore(id: SessionId, session: LiveSession): void {
    this.#sessions.set(id, session)
    for (const [name, token] of session.leases) this.#leases.set(name, { holder: id, token })
    for (const group of session.groups) this.#addMember(group, id)
  }

  #live(id: SessionId, now: number): LiveSession | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined || now < session.expiresAt) return session
    this.#remove(id)
    return undefined
  }

  #remove(id: SessionId): LiveSession | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined) return undefined
    this.#sessions.delete(id)
    for (const name of session.leases.keys()) this.#leases.delete(name)
    for (const group of session.groups) this.#removeMember(group, id)
    return session
  }

  #addMember(group: string, id: SessionId): void {
    const members = this.#groups.get(group)
    if (members === undefined) this.#groups.set(group, new Set([id]))
    else members.add(id)
  }

  #removeMember(group: string, id: SessionId): void {
    const members = this.#groups.get(group)
    members?.delete(id)
    if (members?.size === 0) this.#groups.delete(group)
  }

  #sweep(now: number): void {
    for (const id of [...this.#sessions.keys()]) this.#live(id, now)
    this.#sweepAt = Math.max(smallestSweep, 2 * this.#sessions.size)
  }
}

function copyOf(session: LiveSession): LiveSession {
  return { ...session, leases: new Map(session.leases), groups: new Set(session.groups) }
}
