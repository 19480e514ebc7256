/** Defects of deadlines and of the session's end. */
import type { EngineEvent, EngineState } from '../engine.js'
import type { Defect } from './defect.js'

export const deadlineDefects: Readonly<Record<string, Defect>> = {
  'deadline-from-reply': {
    does: 'counts the deadline from the reply instead of from the sending of the request',
    wrap: (step) => (state, event, now) =>
      step(state, event.type === 'reply' ? { ...event, sentAt: now } : event, now),
  },

  'late-reply-extends': {
    does: 'extends a deadline that has passed when a late reply comes',
    wrap: (step) => (state, event, now) => {
      const { session } = state
      if (session.phase !== 'open' || now < session.deadline) return step(state, event, now)
      // It does not notice that the deadline has passed, but by its timer.
      if (event.type === 'timer' && event.timer === 'deadline') return []
      return step(state, event, session.deadline - 0.001)
    },
  },

  'expired-session-revived': {
    does: 'goes on with a session that the backend says has expired',
    wrap: (step) => (state, event, now) => step(state, revived(state, event), now),
  },

  'no-margin': {
    does: 'takes neither drift nor margin off the granted time',
    wrap: (step) => (state, event, now) => {
      if (state.timing.drift !== 0)
        Object.assign(state, { timing: { ...state.timing, drift: 0, marginMs: 0 } })
      return step(state, event, now)
    },
  },

  'silent-end': {
    does: 'ends a session at its deadline without revoking its terms',
    wrap: (step) => (state, event, now) =>
      step(state, event, now).filter(
        (effect) => !(effect.type === 'revoked' && effect.reason === 'DEADLINE_PASSED'),
      ),
  },

  'stale-session-adopted': {
    does: 'takes a grant of an earlier session for one of the present session',
    wrap: (step) => (state, event, now) => {
      const { session } = state
      if (event.type !== 'reply' || event.op !== 'acquire' || session.phase !== 'open')
        return step(state, event, now)
      const election = state.elections.get(event.request.name)
      if (election?.phase.phase !== 'candidate') return step(state, event, now)
      election.phase.attempt = event.request.id
      const request = { ...event.request, session: session.session, slot: election.slot }
      return step(state, { ...event, request }, now)
    },
  },
}

function revived(state: EngineState, event: EngineEvent): EngineEvent {
  if (event.type !== 'reply' || event.op !== 'keepAlive' || !event.outcome.ok) return event
  if (event.outcome.value.kind !== 'expired') return event
  const owned = [...state.elections.values()].flatMap(({ name, phase }) =>
    phase.phase === 'leader' ? [{ name, token: phase.term.token }] : [],
  )
  return {
    ...event,
    outcome: { ok: true, value: { kind: 'renewed', remainingMs: state.timing.leaseMs, owned } },
  }
}
