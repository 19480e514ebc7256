/** The client's session: opening, renewing, and its end, which ends everything that lives in it. */
import type { OwnedLease, Session } from '../backend.js'
import type { SessionEndReason } from '../events.js'
import { abandonSession, retryAbandoned } from './abandoned.js'
import { becomeCandidate, failAttempts, isAttempting } from './candidate.js'
import type { ReplyOf } from './event.js'
import { joinGroups, loseMemberships } from './group.js'
import { loseTerm } from './handover.js'
import { releaseOrphan } from './release.js'
import { call, type EngineState, isCurrent, nextRandom, type OpenSession, termOf } from './state.js'
import { deadlineOf, openingBackoff, renewalBackoff, renewalPeriod } from './timing.js'
import { isReleasing, releasedSince, settleReleases } from './tokens.js'

export function onBoot(state: EngineState): void {
  if (state.session.phase === 'idle') sendOpen(state, 0)
}

function sendOpen(state: EngineState, failures: number): void {
  const request = call(state, state.timing.renewMs, (id) => ({ op: 'openSession', id }))
  state.session = { phase: 'opening', request, retryAt: Infinity, failures }
}

export function onOpenReply(state: EngineState, reply: ReplyOf<'openSession'>, now: number): void {
  const { outcome, request, sentAt } = reply
  const { session } = state
  const current = session.phase === 'opening' && session.request === request.id
  if (!outcome.ok) {
    if (!current) return
    state.openingError = outcome.error
    failAttempts(state)
    retryOpening(state, session.failures, now)
    return
  }
  const opened: Session = { id: outcome.value.id, leaseMs: state.timing.leaseMs }
  if (isCurrent(state, opened)) return // the same answer once more
  const { remainingMs } = outcome.value
  const deadline = deadlineOf(sentAt, remainingMs, state.timing)
  if (!current || deadline <= now) {
    // It came too late to be of use; nobody will renew it.
    abandonSession(state, opened, now)
    if (current) retryOpening(state, session.failures, now)
    return
  }
  begin(state, opened, deadline, remainingMs, sentAt, now)
}

function retryOpening(state: EngineState, failures: number, now: number): void {
  const retryAt = now + openingBackoff(failures, nextRandom(state), state.timing)
  state.session = { phase: 'opening', request: undefined, retryAt, failures: failures + 1 }
  state.out.push({ type: 'arm', timer: 'renew', at: retryAt })
}

function begin(
  state: EngineState,
  session: Session,
  deadline: number,
  remainingMs: number,
  sentAt: number,
  now: number,
): void {
  const { periodMs, shortened } = renewalPeriod(remainingMs, state.timing)
  const renewAt = Math.max(now, sentAt + periodMs)
  const open: OpenSession = {
    phase: 'open',
    session,
    deadline,
    periodMs,
    shortened: false,
    suspended: false,
    keepAlive: undefined,
    renewAt,
    answered: 0,
  }
  state.session = open
  state.openingError = undefined
  setDeadline(state, open)
  state.out.push({ type: 'arm', timer: 'renew', at: renewAt })
  state.out.push({
    type: 'publish',
    event: { type: 'SessionOpened', session: session.id, validMs: deadline - now },
  })
  if (shortened) reportShortened(state, open, remainingMs)
  for (const election of state.elections.values()) {
    const { phase } = election
    if (phase.phase === 'candidate' && phase.attempt === undefined)
      becomeCandidate(state, election, phase.busy)
  }
  joinGroups(state)
  retryAbandoned(state)
}

function setDeadline(state: EngineState, open: OpenSession): void {
  state.out.push({ type: 'deadline', at: open.deadline })
  state.out.push({ type: 'arm', timer: 'deadline', at: open.deadline })
}

function reportShortened(state: EngineState, open: OpenSession, grantedMs: number): void {
  open.shortened = true
  state.out.push({
    type: 'publish',
    event: {
      type: 'SessionLeaseShortened',
      session: open.session.id,
      askedMs: state.timing.leaseMs,
      grantedMs,
      renewMs: open.periodMs,
    },
  })
}

/** The renewal's time, or that of the next try to open a session. */
export function onRenewTimer(state: EngineState, now: number): void {
  const { session } = state
  if (session.phase === 'opening') {
    if (session.request === undefined && now >= session.retryAt) sendOpen(state, session.failures)
    return
  }
  if (session.phase !== 'open' || session.keepAlive !== undefined || now < session.renewAt) return
  const closing = state.lifecycle.phase === 'closing' && state.lifecycle.until !== undefined
  if (closing || state.lifecycle.phase === 'closed') return
  session.keepAlive = call(state, session.periodMs, (id) => ({
    op: 'keepAlive',
    id,
    session: session.session,
  }))
}

/**
 * The answer to a keep-alive. One that comes after its timeout is as good as any, since the deadline counts from its sending and the
 * deadline has not passed (L6 has been seen to before); only an answer older than one already heard is left alone.
 */
export function onKeepAliveReply(state: EngineState, reply: ReplyOf<'keepAlive'>, now: number): void {
  const { outcome, request, sentAt } = reply
  const open = state.session
  if (open.phase !== 'open' || !isCurrent(state, request.session) || request.id < open.answered) return
  const inFlight = open.keepAlive === request.id
  if (inFlight) open.keepAlive = undefined
  if (!outcome.ok) {
    if (inFlight) suspend(state, open, outcome.error, now)
    return
  }
  if (outcome.value.kind === 'expired') return // the session has been ended before
  const { remainingMs, owned } = outcome.value
  const deadline = deadlineOf(sentAt, remainingMs, state.timing)
  if (deadline <= now) {
    endSession(state, open, 'DEADLINE_PASSED', now)
    return
  }
  open.answered = request.id
  open.deadline = deadline
  setDeadline(state, open)
  const { periodMs, shortened } = renewalPeriod(remainingMs, state.timing)
  open.periodMs = periodMs
  if (shortened && !open.shortened) reportShortened(state, open, remainingMs)
  if (open.keepAlive === undefined) renewAt(state, open, Math.max(now, sentAt + periodMs))
  if (open.suspended) {
    open.suspended = false
    state.out.push({
      type: 'publish',
      event: { type: 'SessionResumed', session: open.session.id, validMs: deadline - now },
    })
  }
  compareOwned(state, open, request.id, owned, now)
}

function suspend(
  state: EngineState,
  open: OpenSession,
  error: Extract<ReplyOf<'keepAlive'>['outcome'], { ok: false }>['error'],
  now: number,
): void {
  renewAt(state, open, now + renewalBackoff(now, open.deadline, state.timing))
  if (open.suspended) return
  open.suspended = true
  state.out.push({
    type: 'publish',
    event: { type: 'SessionSuspended', session: open.session.id, validMs: open.deadline - now, error },
  })
}

function renewAt(state: EngineState, open: OpenSession, at: number): void {
  open.renewAt = at
  state.out.push({ type: 'arm', timer: 'renew', at })
}

/**
 * Holds what the backend says that the session owns against what is held here. A term that was adopted before the question and is not
 * in the answer is lost; a lease in the answer that nobody holds and nobody is acquiring is given back.
 */
function compareOwned(
  state: EngineState,
  open: OpenSession,
  request: number,
  owned: readonly OwnedLease[],
  now: number,
): void {
  const tokens = new Map<string, bigint>()
  for (const lease of owned) tokens.set(lease.name, lease.token)
  for (const election of state.terms.values()) {
    const term = termOf(election)
    if (term === undefined || term.adoptedBefore > request) continue
    if (tokens.get(election.name) !== term.token) loseTerm(state, election, 'TAKEN_OVER', now)
  }
  for (const { name, token } of owned) {
    const election = state.elections.get(name)
    if (isAttempting(state, name, election)) continue
    if (isReleasing(state, name) || releasedSince(state, request, name)) continue
    const term = election === undefined ? undefined : termOf(election)
    if (term !== undefined && (term.token === token || term.adoptedBefore > request)) continue
    releaseOrphan(state, open.session, name, token)
  }
  settleReleases(state, request, tokens)
}

/** Ends the session and all that lives in it. A session is never continued: what follows is a new one, with a new id. */
export function endSession(
  state: EngineState,
  open: OpenSession,
  reason: SessionEndReason,
  now: number,
): void {
  state.out.push({ type: 'deadline', at: Number.NEGATIVE_INFINITY })
  state.out.push({ type: 'arm', timer: 'deadline', at: undefined })
  state.out.push({ type: 'arm', timer: 'renew', at: undefined })
  state.session = { phase: 'ended' }
  state.givenUp.clear()
  state.releases.clear()
  const revokeReason = reason === 'CLOSED' ? 'STOPPED' : reason
  for (const election of [...state.elections.values()]) {
    const { phase } = election
    if (phase.phase === 'candidate') {
      if (phase.retryAt !== Infinity) state.out.push({ type: 'arm', timer: election.slot, at: undefined })
      becomeCandidate(state, election, phase.busy)
    } else {
      loseTerm(state, election, revokeReason, now)
    }
  }
  loseMemberships(state)
  state.out.push({ type: 'publish', event: { type: 'SessionEnded', session: open.session.id, reason } })
  // A keep-alive that is still on its way could prolong the session in the backend, with leases that nobody here holds.
  if (reason === 'DEADLINE_PASSED') abandonSession(state, open.session, now)
  if (state.lifecycle.phase !== 'running') return
  // A backend that ends one session after the other before its first renewal shall not be asked for the next at once.
  if (open.answered > 0 || reason !== 'SESSION_EXPIRED') state.shortLived = 0
  else state.shortLived += 1
  if (state.shortLived > 1) retryOpening(state, state.shortLived, now)
  else sendOpen(state, 0)
}
