/** What each backend call does in its transaction, which has the file for itself from its beginning if it writes. */
import type {
  AcquireReply,
  Inspection,
  InspectScope,
  JoinReply,
  KeepAliveReply,
  SessionId,
} from '@simba/core'
import { inspectionOf } from '../inspection.js'
import { bigintOf, numberOf, textOf } from '../rows.js'
import type { SqlRow } from '../statement.js'
import * as sql from './statements.js'
import { countOf, rowOf, rowsOf, type Steps } from './steps.js'
import type { Announce } from './work.js'

/** The token of a name's first term. */
const FIRST_TOKEN = 1n

export function* openSession(id: SessionId, leaseMs: number, metadata: string): Steps<void> {
  yield sql.insertSession(id, leaseMs, metadata)
}

export function* keepAlive(announce: Announce, id: SessionId, leaseMs: number): Steps<KeepAliveReply> {
  if (!isLive(yield* rowOf(sql.readSession(id)))) {
    // Also what a purge has left, which deletes sessions only.
    yield* closeSession(announce, id)
    return { kind: 'expired' }
  }
  yield sql.renewSession(id, leaseMs)
  const owned = yield* rowsOf(sql.ownedLeases(id))
  return {
    kind: 'renewed',
    remainingMs: leaseMs,
    owned: owned.map((row) => ({ name: textOf(row, 'name'), token: bigintOf(row, 'token') })),
  }
}

export function* closeSession(announce: Announce, id: SessionId): Steps<void> {
  const leases = yield* rowsOf(sql.ownedLeases(id))
  const groups = yield* rowsOf(sql.joinedGroups(id))
  yield sql.deleteSession(id)
  yield sql.freeLeases(id)
  yield sql.deleteMemberships(id)
  for (const row of leases) announce({ kind: 'released', name: textOf(row, 'name') })
  for (const row of groups) announce({ kind: 'members', group: textOf(row, 'group_name') })
}

export function* acquire(id: SessionId, name: string): Steps<AcquireReply> {
  if (!isLive(yield* rowOf(sql.readSession(id)))) return { kind: 'expired' }
  const lease = yield* rowOf(sql.readLease(name))
  if (lease === undefined) {
    yield sql.insertLease(name, id, FIRST_TOKEN)
    return { kind: 'granted', token: FIRST_TOKEN }
  }
  const [holder, token] = [textOf(lease, 'session_id'), bigintOf(lease, 'token')]
  if (holder === id) return { kind: 'granted', token }
  if (holder !== '' && isLive(yield* rowOf(sql.readSession(holder)))) return { kind: 'held', holder }
  yield sql.takeLease(name, id)
  return { kind: 'granted', token: token + 1n }
}

export function* release(announce: Announce, id: SessionId, name: string, token: bigint): Steps<void> {
  if (BigInt.asIntN(64, token) !== token) return // no lease can have it, and drivers refuse it
  const freed = yield* countOf(sql.releaseLease(name, id, token))
  if (freed > 0) announce({ kind: 'released', name })
}

export function* join(announce: Announce, id: SessionId, group: string): Steps<JoinReply> {
  if (!isLive(yield* rowOf(sql.readSession(id)))) return { kind: 'expired' }
  const joined = yield* countOf(sql.insertMember(group, id))
  if (joined > 0) announce({ kind: 'members', group })
  return { kind: 'joined' }
}

export function* leave(announce: Announce, id: SessionId, group: string): Steps<void> {
  const left = yield* countOf(sql.deleteMember(group, id))
  if (left > 0) announce({ kind: 'members', group })
}

export function* members(group: string): Steps<readonly SessionId[]> {
  const rows = yield* rowsOf(sql.liveMembers(group))
  return rows.map((row) => textOf(row, 'session_id'))
}

export function* inspect(scope: InspectScope): Steps<Inspection> {
  const lease = scope.kind === 'lease' ? scope.name : undefined
  return inspectionOf({
    sessions: yield* rowsOf(sql.inspectSessions(lease)),
    leases: yield* rowsOf(sql.inspectLeases(lease)),
    members: scope.kind === 'all' ? yield* rowsOf(sql.inspectMembers()) : [],
  })
}

/**
 * Deletes expired sessions and what they were members of. Lease rows stay, since they keep the tokens; a lease whose session is gone
 * is free.
 */
export function* purgeExpired(limit: number): Steps<number> {
  const expired = yield* rowsOf(sql.expiredSessions(limit))
  const ids = expired.map((row) => textOf(row, 'session_id'))
  if (ids.length === 0) return 0
  yield sql.deleteMembershipsOf(ids)
  yield sql.deleteSessions(ids)
  return ids.length
}

function isLive(session: SqlRow | undefined): boolean {
  return session !== undefined && numberOf(session, 'remaining_ms') > 0
}
