/**
 * Sessions of ours that the backend may have and nobody here uses: one that was opened after its caller had given up, or one whose
 * deadline passed here before the backend expired it. They would keep their leases for up to a lease; so they are closed.
 */
import type { Session } from '../backend.js'
import type { ReplyOf } from './event.js'
import { type AbandonedSession, call, type EngineState } from './state.js'

/** Closes a session, and tries again until the backend has expired it for certain. */
export function abandonSession(state: EngineState, session: Session, now: number): void {
  if (state.lifecycle.phase !== 'running') return
  const abandoned = { session, request: undefined, until: now + 2 * state.timing.leaseMs }
  state.abandoned.set(session.id, abandoned)
  sendClose(state, abandoned)
}

function sendClose(state: EngineState, abandoned: AbandonedSession): void {
  const { session } = abandoned
  abandoned.request = call(state, state.timing.renewMs, (id) => ({ op: 'closeSession', id, session }))
}

/** Tells whether the reply was about an abandoned session. */
export function onAbandonedClosed(state: EngineState, reply: ReplyOf<'closeSession'>, now: number): void {
  const abandoned = state.abandoned.get(reply.request.session.id)
  if (abandoned === undefined || abandoned.request !== reply.request.id) return
  abandoned.request = undefined
  if (reply.outcome.ok || now >= abandoned.until) {
    state.abandoned.delete(reply.request.session.id)
    return
  }
  state.out.push({ type: 'arm', timer: 'abandoned', at: now + state.timing.renewMs })
}

/** The backend may be reachable again. */
export function retryAbandoned(state: EngineState): void {
  for (const abandoned of state.abandoned.values()) {
    if (abandoned.request === undefined) sendClose(state, abandoned)
  }
}
