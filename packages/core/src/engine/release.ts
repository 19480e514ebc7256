/** Leases are given back here, and only here: a term has been revoked before (L2), and the release carries its token. */
import type { Session } from '../backend.js'
import type { ReplyOf } from './event.js'
import { call, type EngineState, isCurrent } from './state.js'
import { noteReleased, noteReleasing } from './tokens.js'

/** Releases a lease and returns the request's id. */
export function sendRelease(state: EngineState, session: Session, name: string, token: bigint): number {
  const timeoutMs = state.session.phase === 'open' ? state.session.periodMs : state.timing.renewMs
  const request = call(state, timeoutMs, (id) => ({ op: 'release', id, session, name, token }))
  if (isCurrent(state, session)) noteReleasing(state, session.id, name, token, request)
  return request
}

/** Gives back a lease that the backend has for this session, but nobody here holds. */
export function releaseOrphan(state: EngineState, session: Session, name: string, token: bigint): void {
  sendRelease(state, session, name, token)
  state.out.push({ type: 'publish', event: { type: 'OrphanReleased', name, token } })
}

/** A release that failed needs no retry of its own: the next keep-alive lists the lease, and it is an orphan then. */
export function onReleaseReply(state: EngineState, reply: ReplyOf<'release'>): void {
  const { session, name, token, id } = reply.request
  if (isCurrent(state, session)) noteReleased(state, name, token, id, reply.outcome.ok)
}
