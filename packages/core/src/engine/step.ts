/**
 * The engine: one event in, effects out. No clock, timer, randomness, I/O or callback is in here, so every race is a list of events.
 *
 *     idle --boot--> opening --reply--> open (live <-> suspended) --deadline | expired | closed--> ended --> opening
 *
 *                     granted                      stop, stepDown
 *     start --> candidate ------> leader ----------------------------> handover (work running)
 *                  ^  ^             |  lost: deadline, expired, taken over    |  work exits, or the deadline as it stood
 *                  |  +-------------+                                         v
 *                  +--------------- cooldown <---------- stepDown -------- releasing ---- stop ----> gone
 */
import { onAbandonedClosed, retryAbandoned } from './abandoned.js'
import { competeIfWaiting, onAcquireReply, onReleasedHint } from './candidate.js'
import { advanceClosing, onClose, onSessionClosed } from './closing.js'
import type { Effect, TimerKey } from './effect.js'
import { onElectionTimer, onStart, onStepDown, onStop, onWorkExited } from './election.js'
import type { EngineEvent, Reply } from './event.js'
import {
  onGroupTimer,
  onJoin,
  onJoinReply,
  onLeave,
  onLeaveReply,
  onMembersHint,
  onMembersReply,
} from './group.js'
import { onReleaseAnswered } from './handover.js'
import { onReleaseReply } from './release.js'
import { endSession, onBoot, onKeepAliveReply, onOpenReply, onRenewTimer } from './session.js'
import { type EngineState, isCurrent, unreachable } from './state.js'

/** Takes the state through one event at the time `now`, and returns what is to be done, in order. */
export function step(state: EngineState, event: EngineEvent, now: number): readonly Effect[] {
  const effects: Effect[] = []
  state.out = effects
  if (state.lifecycle.phase === 'closed') return effects
  if (event.type === 'late') reportLateness(state, event.lateMs, now)
  // Before anything else: a passed deadline is not extended by what comes now, be it the reply that was waited for (L6).
  if (state.session.phase === 'open' && now >= state.session.deadline) {
    endSession(state, state.session, 'DEADLINE_PASSED', now)
  }
  take(state, event, now)
  if (state.lifecycle.phase === 'closing') advanceClosing(state, now)
  return effects
}

function take(state: EngineState, event: EngineEvent, now: number): void {
  switch (event.type) {
    case 'boot':
      if (state.lifecycle.phase === 'running') onBoot(state)
      return
    case 'start':
      if (state.lifecycle.phase !== 'running') return
      onBoot(state)
      onStart(state, event)
      return
    case 'stop':
      onStop(state, event)
      return
    case 'stepDown':
      onStepDown(state, event, now)
      return
    case 'workExited':
      onWorkExited(state, event)
      return
    case 'join':
      if (state.lifecycle.phase !== 'running') return
      onBoot(state)
      onJoin(state, event)
      return
    case 'leave':
      onLeave(state, event)
      return
    case 'close':
      onClose(state, event.force)
      return
    case 'timer':
      onTimer(state, event.timer, now)
      return
    case 'late':
      return // reported before
    case 'reply':
      onReply(state, event, now)
      return
    case 'hint':
      if (event.hint.kind === 'released') onReleasedHint(state, event.hint.name)
      else onMembersHint(state, event.hint.group)
      return
    default:
      unreachable(event)
  }
}

function onTimer(state: EngineState, timer: TimerKey, now: number): void {
  if (typeof timer === 'number') {
    onElectionTimer(state, timer, now)
    return
  }
  switch (timer) {
    case 'renew':
      onRenewTimer(state, now)
      return
    case 'deadline':
    case 'close':
      return // what they wake is looked at in every step
    case 'abandoned':
      retryAbandoned(state)
      return
    default:
      onGroupTimer(state, timer.slice('group:'.length), now)
  }
}

function onReply(state: EngineState, reply: Reply, now: number): void {
  if (!reply.outcome.ok) reportFailure(state, reply, reply.outcome, now)
  endExpiredSession(state, reply, now)
  switch (reply.op) {
    case 'openSession':
      onOpenReply(state, reply, now)
      return
    case 'keepAlive':
      onKeepAliveReply(state, reply, now)
      return
    case 'closeSession':
      onAbandonedClosed(state, reply, now)
      onSessionClosed(state, reply, now)
      return
    case 'acquire':
      onAcquireReply(state, reply, now)
      return
    case 'release':
      onReleaseReply(state, reply)
      onReleaseAnswered(state, reply, now)
      competeIfWaiting(state, reply.request.name)
      return
    case 'join':
      onJoinReply(state, reply, now)
      return
    case 'leave':
      onLeaveReply(state, reply, now)
      return
    case 'members':
      onMembersReply(state, reply, now)
      return
    default:
      unreachable(reply)
  }
}

/** Whichever call it is that hears of the expiry, it is the end of the session (L7). */
function endExpiredSession(state: EngineState, reply: Reply, now: number): void {
  if (reply.op !== 'keepAlive' && reply.op !== 'acquire' && reply.op !== 'join') return
  const { outcome, request } = reply
  if (!outcome.ok || outcome.value.kind !== 'expired') return
  if (state.session.phase === 'open' && isCurrent(state, request.session)) {
    endSession(state, state.session, 'SESSION_EXPIRED', now)
  }
}

function reportFailure(
  state: EngineState,
  reply: Reply,
  outcome: Extract<Reply['outcome'], { readonly ok: false }>,
  now: number,
): void {
  const { request } = reply
  const name = 'name' in request ? request.name : 'group' in request ? request.group : undefined
  state.out.push({
    type: 'publish',
    event: {
      type: 'BackendCallFailed',
      call: request.op,
      name,
      tookMs: now - reply.sentAt,
      timedOut: outcome.timedOut,
      error: outcome.error,
    },
  })
}

/** Lateness is news when it ended terms, or when it took so much of a renewal period that it might have. */
function reportLateness(state: EngineState, lateMs: number, now: number): void {
  const { session } = state
  if (session.phase !== 'open') return
  const cost = now >= session.deadline
  if (!cost && lateMs < session.periodMs / 2) return
  if (state.terms.size === 0) return
  state.out.push({ type: 'publish', event: { type: 'EventLoopBlocked', blockedMs: lateMs, cost } })
}
