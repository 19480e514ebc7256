/** The rules of a backend (B1 to B7) in the fewest words, on a clock that may run faster or slower than the client's. */
import type { SessionId } from '@simba/core'
import type { Request } from '../../src/engine/effect.js'
import type { Value } from './rig.js'

export const STRANGER: SessionId = 'stranger'

export class ModelBackend {
  readonly leases = new Map<string, { holder: SessionId | undefined; token: bigint }>()
  readonly members = new Map<string, Set<SessionId>>()
  private readonly sessions = new Map<SessionId, number>()
  private ids = 0

  /** `rate`: backend milliseconds in one of the client's. */
  constructor(private readonly rate = 1) {}

  isLive(session: SessionId, now: number): boolean {
    return session === STRANGER || (this.sessions.get(session) ?? -1) > now * this.rate
  }

  /** Who owns the lease now. */
  ownerOf(name: string, now: number): SessionId | undefined {
    const holder = this.leases.get(name)?.holder
    return holder !== undefined && this.isLive(holder, now) ? holder : undefined
  }

  ownedBy(session: SessionId, now: number): { readonly [name: string]: bigint } {
    const owned: { [name: string]: bigint } = {}
    for (const [name, { token }] of this.leases) if (this.ownerOf(name, now) === session) owned[name] = token
    return owned
  }

  liveSessions(now: number): SessionId[] {
    return [...this.sessions.keys()].filter((session) => this.isLive(session, now))
  }

  groupsOf(session: SessionId): string[] {
    return [...this.members].filter(([, members]) => members.has(session)).map(([group]) => group)
  }

  /** The request takes effect, and this is its answer. */
  apply(request: Request, leaseMs: number, now: number): Value {
    const expiresAt = now * this.rate + leaseMs
    if (request.op === 'openSession') {
      const id = `s${++this.ids}`
      this.sessions.set(id, expiresAt)
      return { id, remainingMs: leaseMs }
    }
    const session = request.session.id
    const live = this.isLive(session, now)
    switch (request.op) {
      case 'keepAlive': {
        if (!live) return { kind: 'expired' }
        this.sessions.set(session, expiresAt)
        const owned = Object.entries(this.ownedBy(session, now)).map(([name, token]) => ({ name, token }))
        return { kind: 'renewed', remainingMs: leaseMs, owned }
      }
      case 'closeSession':
        this.end(session)
        return undefined
      case 'acquire':
        return live ? this.acquire(session, request.name, now) : { kind: 'expired' }
      case 'release': {
        const lease = this.leases.get(request.name)
        if (lease?.holder === session && lease.token === request.token) lease.holder = undefined
        return undefined
      }
      case 'join': {
        if (!live) return { kind: 'expired' }
        const members = this.members.get(request.group) ?? new Set()
        this.members.set(request.group, members.add(session))
        return { kind: 'joined' }
      }
      case 'leave':
        this.members.get(request.group)?.delete(session)
        return undefined
      case 'members':
        return [...(this.members.get(request.group) ?? [])].filter((member) => this.isLive(member, now))
    }
  }

  /** Somebody else takes the lease, if it is free. */
  takeAsStranger(name: string, now: number): void {
    this.acquire(STRANGER, name, now)
  }

  /** Somebody else lets go of the lease; tells whether it was theirs. */
  releaseAsStranger(name: string): boolean {
    const lease = this.leases.get(name)
    if (lease?.holder !== STRANGER) return false
    lease.holder = undefined
    return true
  }

  /** Somebody else takes the lease from its owner, which no backend may do. */
  stealAsStranger(name: string): void {
    const lease = this.leases.get(name)
    this.leases.set(name, { holder: STRANGER, token: (lease?.token ?? 0n) + 1n })
  }

  /** All sessions are lost; tokens are not. */
  loseSessions(): void {
    for (const session of [...this.sessions.keys()]) this.end(session)
  }

  private acquire(session: SessionId, name: string, now: number): Value {
    const owner = this.ownerOf(name, now)
    const lease = this.leases.get(name)
    if (owner === session && lease !== undefined) return { kind: 'granted', token: lease.token }
    if (owner !== undefined) return { kind: 'held', holder: owner }
    const token = (lease?.token ?? 0n) + 1n
    this.leases.set(name, { holder: session, token })
    return { kind: 'granted', token }
  }

  private end(session: SessionId): void {
    this.sessions.delete(session)
    for (const members of this.members.values()) members.delete(session)
  }
}
