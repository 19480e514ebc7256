/**
 * The end of terms: lost ones at once, given-up ones in the order of a hand-over: revoke, wait for the work (until the deadline as it
 * stood), release, and then tell that it is done.
 */
import type { RevokeReason } from '../revoke-reason.js'
import { becomeCandidate, disarmElection, stopWatching } from './candidate.js'
import type { ReplyOf } from './event.js'
import { sendRelease } from './release.js'
import { vacate } from './slots.js'
import {
  type Afterwards,
  type Election,
  type EngineState,
  openSessionOf,
  type PhaseOf,
  type TermState,
  unreachable,
} from './state.js'
import { retireTokens } from './tokens.js'

function revoke(state: EngineState, election: Election, term: TermState, reason: RevokeReason): void {
  const { name, start } = election
  state.out.push({ type: 'revoked', name, start, term: term.id, reason })
  state.out.push({ type: 'publish', event: { type: 'Revoked', name, token: term.token, reason } })
}

/** Ends a term in order. With work running the lease is kept for it, but not beyond the deadline as it stands now. */
export function handOver(
  state: EngineState,
  election: Election,
  term: TermState,
  reason: RevokeReason,
  next: Afterwards,
): void {
  revoke(state, election, term, reason)
  const until = openSessionOf(state)?.deadline
  if (term.working && until !== undefined) {
    election.phase = { phase: 'handover', term, reason, until, next }
    state.out.push({ type: 'arm', timer: election.slot, at: until })
  } else {
    beginRelease(state, election, term, reason, next)
  }
}

/** Releases the lease of a revoked term. While the client closes, the session's closing may do that for all of them. */
export function beginRelease(
  state: EngineState,
  election: Election,
  term: TermState,
  reason: RevokeReason,
  next: Afterwards,
): void {
  const open = openSessionOf(state)
  const { lifecycle } = state
  const bySession = lifecycle.phase === 'closing' || open === undefined
  const request = bySession ? undefined : sendRelease(state, open.session, election.name, term.token)
  election.phase = { phase: 'releasing', term, reason, request, next }
  if (lifecycle.phase === 'closing') lifecycle.finished.push(election)
}

/** The work has exited, or its time is over. */
export function endHandover(state: EngineState, election: Election, phase: PhaseOf<'handover'>): void {
  disarmElection(state, election.slot)
  beginRelease(state, election, phase.term, phase.reason, phase.next)
}

/** The release was answered, or given up: the lease will be gone with the session at the latest. */
export function onReleaseAnswered(state: EngineState, reply: ReplyOf<'release'>, now: number): void {
  const election = state.elections.get(reply.request.name)
  if (election?.phase.phase === 'releasing' && election.phase.request === reply.request.id) {
    finishHandover(state, election, election.phase, now)
  }
}

/** The hand-over is done: callbacks and promises may follow, and what comes afterwards. */
export function finishHandover(
  state: EngineState,
  election: Election,
  phase: PhaseOf<'handover' | 'releasing'>,
  now: number,
): void {
  const { next } = phase
  completeTerm(state, election, phase.term, phase.reason)
  if (election.kind === 'lock' || next.kind === 'stop') {
    removeElection(state, election, next.calls)
    return
  }
  completeStepDowns(state, election, next.calls)
  coolDown(state, election, next.until, now)
}

/** Stays out of the competition until the given time. */
export function coolDown(state: EngineState, election: Election, until: number, now: number): void {
  const busy = busyTerm(election)
  if (until <= now) {
    becomeCandidate(state, election, busy)
    return
  }
  election.phase = { phase: 'cooldown', until, busy }
  state.out.push({ type: 'arm', timer: election.slot, at: until })
}

/** Takes away a term that is lost: others may own the lease already, so nothing is waited for and nothing released. */
export function loseTerm(state: EngineState, election: Election, reason: RevokeReason, now: number): void {
  const { phase } = election
  switch (phase.phase) {
    case 'leader':
      revoke(state, election, phase.term, reason)
      completeTerm(state, election, phase.term, reason)
      if (election.kind === 'lock') removeElection(state, election, [])
      else becomeCandidate(state, election, busyTerm(election))
      return
    case 'handover':
      disarmElection(state, election.slot)
      finishHandover(state, election, phase, now)
      return
    case 'releasing':
      finishHandover(state, election, phase, now)
      return
    case 'candidate':
    case 'cooldown':
      return // has no term
    default:
      unreachable(phase)
  }
}

/** The term whose work an exclusive election must see exit before it competes again. */
function busyTerm({ kind, phase }: Election): number | undefined {
  switch (phase.phase) {
    case 'candidate':
    case 'cooldown':
      return phase.busy
    case 'leader':
    case 'handover':
    case 'releasing':
      return kind === 'exclusive' && phase.term.working ? phase.term.id : undefined
    default:
      return unreachable(phase)
  }
}

function completeTerm(state: EngineState, election: Election, term: TermState, reason: RevokeReason): void {
  const { name, start } = election
  state.terms.delete(name)
  state.out.push({ type: 'complete', completion: { kind: 'term', name, start, term: term.id, reason } })
}

export function completeStepDowns(state: EngineState, election: Election, calls: readonly number[]): void {
  const { name, start } = election
  for (const call of calls) {
    state.out.push({ type: 'complete', completion: { kind: 'stepDown', name, start, call } })
  }
}

/** The election's end: its name is free again. */
export function removeElection(state: EngineState, election: Election, calls: readonly number[]): void {
  const { name, start } = election
  stopWatching(state, election)
  completeStepDowns(state, election, calls)
  vacate(state, election)
  retireTokens(state, name)
  state.out.push({ type: 'complete', completion: { kind: 'stop', name, start } })
}
