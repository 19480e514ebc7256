/**
 * What each backend call does in its transaction, the same for all dialects. Everything that a decision rests on is locked when it is
 * read, in this order: own session, lease, holder's session. So a decision is never made on what was seen before a wait for a lock.
 */
import type {
  AcquireReply,
  Inspection,
  InspectScope,
  JoinReply,
  KeepAliveReply,
  SessionId,
} from '@simba/core'
import type { Announce } from './connections.js'
import type { SqlDialect } from './dialect.js'
import { bigintOf, numberOf, textOf } from './rows.js'
import { countOf, rowOf, rowsOf, type SqlRow, type Steps } from './steps.js'

/** The token of a name's first term. */
const FIRST_TOKEN = 1n

export class Operations {
  constructor(private readonly dialect: SqlDialect) {}

  *openSession(id: SessionId, leaseMs: number, metadata: string): Steps<void> {
    yield this.dialect.insertSession(id, leaseMs, metadata)
  }

  *keepAlive(announce: Announce, id: SessionId, leaseMs: number): Steps<KeepAliveReply> {
    if (!isLive(yield* rowOf(this.dialect.lockSession(id)))) {
      // Also what a purge has left, which deletes sessions only.
      yield* this.closeSession(announce, id)
      return { kind: 'expired' }
    }
    yield this.dialect.renewSession(id, leaseMs)
    const owned = yield* rowsOf(this.dialect.ownedLeases(id))
    return {
      kind: 'renewed',
      remainingMs: leaseMs,
      owned: owned.map((row) => ({ name: textOf(row, 'name'), token: bigintOf(row, 'token') })),
    }
  }

  *closeSession(announce: Announce, id: SessionId): Steps<void> {
    const leases = yield* rowsOf(this.dialect.ownedLeases(id))
    const groups = yield* rowsOf(this.dialect.joinedGroups(id))
    yield this.dialect.deleteSession(id)
    yield this.dialect.freeLeases(id)
    yield this.dialect.deleteMemberships(id)
    for (const row of leases) announce({ kind: 'released', name: textOf(row, 'name') })
    for (const row of groups) announce({ kind: 'members', group: textOf(row, 'group_name') })
  }

  *acquire(id: SessionId, name: string): Steps<AcquireReply> {
    if (!isLive(yield* rowOf(this.dialect.shareSession(id)))) return { kind: 'expired' }
    let lease = yield* rowOf(this.dialect.lockLease(name))
    if (lease === undefined) {
      const inserted = yield* countOf(this.dialect.insertLease(name, id))
      if (inserted === 1) return { kind: 'granted', token: FIRST_TOKEN }
      lease = yield* rowOf(this.dialect.lockLease(name))
      if (lease === undefined) throw new Error(`the lease "${name}" can be neither inserted nor read`)
    }
    const [holder, token] = [textOf(lease, 'session_id'), bigintOf(lease, 'token')]
    if (holder === id) return { kind: 'granted', token }
    if (holder !== '' && isLive(yield* rowOf(this.dialect.shareSession(holder))))
      return { kind: 'held', holder }
    const taken = yield* countOf(this.dialect.takeLease(name, id, token))
    if (taken !== 1) throw new Error(`the lease "${name}" changed while it was locked`)
    return { kind: 'granted', token: token + 1n }
  }

  *release(announce: Announce, id: SessionId, name: string, token: bigint): Steps<void> {
    if (BigInt.asIntN(64, token) !== token) return // no lease can have it, and drivers refuse it
    const freed = yield* countOf(this.dialect.releaseLease(name, id, token))
    if (freed > 0) announce({ kind: 'released', name })
  }

  *join(announce: Announce, id: SessionId, group: string): Steps<JoinReply> {
    if (!isLive(yield* rowOf(this.dialect.shareSession(id)))) return { kind: 'expired' }
    const joined = yield* countOf(this.dialect.insertMember(group, id))
    if (joined > 0) announce({ kind: 'members', group })
    return { kind: 'joined' }
  }

  *leave(announce: Announce, id: SessionId, group: string): Steps<void> {
    const left = yield* countOf(this.dialect.deleteMember(group, id))
    if (left > 0) announce({ kind: 'members', group })
  }

  *members(group: string): Steps<readonly SessionId[]> {
    const rows = yield* rowsOf(this.dialect.liveMembers(group))
    return rows.map((row) => textOf(row, 'session_id'))
  }

  *inspect(scope: InspectScope): Steps<Inspection> {
    const lease = scope.kind === 'lease' ? scope.name : undefined
    const sessions = yield* rowsOf(this.dialect.inspectSessions(lease))
    const leases = yield* rowsOf(this.dialect.inspectLeases(lease))
    const members = scope.kind === 'all' ? yield* rowsOf(this.dialect.inspectMembers()) : []
    return {
      sessions: sessions.map((row) => ({
        id: textOf(row, 'session_id'),
        remainingMs: numberOf(row, 'remaining_ms'),
        metadata: textOf(row, 'metadata'),
      })),
      leases: leases.map((row) => {
        const [name, holder, token] = [textOf(row, 'name'), textOf(row, 'session_id'), bigintOf(row, 'token')]
        return holder === '' ? { name, token } : { name, holder, token }
      }),
      groups: groupsOf(members),
    }
  }

  /**
   * Deletes expired sessions and what they were members of. Lease rows stay, since they keep the tokens; a lease whose session is gone
   * is free.
   */
  *purgeExpired(limit: number): Steps<number> {
    const expired = yield* rowsOf(this.dialect.lockExpiredSessions(limit))
    const ids = expired.map((row) => textOf(row, 'session_id'))
    if (ids.length === 0) return 0
    yield this.dialect.deleteMembershipsOf(ids)
    yield this.dialect.deleteSessions(ids)
    return ids.length
  }
}

function isLive(session: SqlRow | undefined): boolean {
  return session !== undefined && numberOf(session, 'remaining_ms') > 0
}

function groupsOf(rows: readonly SqlRow[]): Inspection['groups'] {
  const groups = new Map<string, SessionId[]>()
  for (const row of rows) {
    const [group, member] = [textOf(row, 'group_name'), textOf(row, 'session_id')]
    const members = groups.get(group)
    if (members === undefined) groups.set(group, [member])
    else members.push(member)
  }
  return [...groups].map(([group, members]) => ({ group, members }))
}
