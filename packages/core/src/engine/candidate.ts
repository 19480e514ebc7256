/** Competing for a lease: attempts, retries, hints, and the adoption of a grant. */
import type { AttemptOutcome, Slot } from './effect.js'
import type { ReplyOf } from './event.js'
import { releaseOrphan } from './release.js'
import {
  call,
  type Election,
  type EngineState,
  isCurrent,
  nextRandom,
  openSessionOf,
  type PhaseOf,
  termOf,
} from './state.js'
import { retryDelay } from './timing.js'
import { isReleasing, noteAdopted, releasedToken } from './tokens.js'

/** Makes an election a candidate that attempts at once if it can; `busy` is the ended term whose work it must wait for. */
export function becomeCandidate(state: EngineState, election: Election, busy?: number): void {
  election.phase = { phase: 'candidate', attempt: undefined, retryAt: Infinity, hinted: false, busy }
  compete(state, election)
}

/**
 * Sends an attempt, unless the candidate must wait: for a session, for the work of its last term, for the answer to an attempt that was
 * given up, or for the answer to a release of the same name (an acquire that overtook the release would be granted the very token that
 * is being given back). The end of each of these makes it compete again.
 */
export function compete(state: EngineState, election: Election): void {
  const { phase, name, slot } = election
  if (phase.phase !== 'candidate' || phase.attempt !== undefined) return
  if (phase.retryAt !== Infinity) disarmElection(state, slot)
  const open = openSessionOf(state)
  const waits =
    open === undefined ||
    state.lifecycle.phase !== 'running' ||
    phase.busy !== undefined ||
    state.givenUp.has(name) ||
    isReleasing(state, name)
  const attempt = waits
    ? undefined
    : call(state, open.periodMs, (id) => ({ op: 'acquire', id, session: open.session, name, slot }))
  phase.attempt = attempt
  phase.retryAt = Infinity
  phase.hinted = false
}

/** Something that a candidate may have waited for is over. */
export function competeIfWaiting(state: EngineState, name: string): void {
  const election = state.elections.get(name)
  if (election?.phase.phase === 'candidate' && election.phase.retryAt === Infinity) compete(state, election)
}

/** Leaves the competition; of an attempt in flight it is remembered that nobody waits for it. */
export function giveUp(state: EngineState, { name, slot }: Election, phase: PhaseOf<'candidate'>): void {
  disarmElection(state, slot)
  if (phase.attempt !== undefined) state.givenUp.set(name, phase.attempt)
}

/** Whether an acquire of the name is in flight. */
export function isAttempting(state: EngineState, name: string, election: Election | undefined): boolean {
  if (state.givenUp.has(name)) return true
  return election?.phase.phase === 'candidate' && election.phase.attempt !== undefined
}

/** Waits a jittered while before the next attempt. */
function retryLater(state: EngineState, slot: Slot, phase: PhaseOf<'candidate'>, now: number): void {
  phase.attempt = undefined
  phase.retryAt = now + retryDelay(nextRandom(state), state.timing)
  phase.hinted = false
  state.out.push({ type: 'arm', timer: slot, at: phase.retryAt })
}

export function disarmElection(state: EngineState, slot: Slot): void {
  state.out.push({ type: 'arm', timer: slot, at: undefined })
}

export function stopWatching(state: EngineState, election: Election): void {
  if (!election.watching) return
  election.watching = false
  state.out.push({ type: 'unwatch', topic: { kind: 'lease', name: election.name } })
}

/** A lease was released somewhere: try at once, or right after the attempt in flight, which may have come too early. */
export function onReleasedHint(state: EngineState, name: string): void {
  const election = state.elections.get(name)
  if (election?.phase.phase !== 'candidate') return
  if (election.phase.attempt === undefined) compete(state, election)
  else election.phase.hinted = true
}

/**
 * The answer to an acquire. It makes a term only if it answers the election's current attempt, in a session whose deadline has not
 * passed, with a token above every one that this session has released for the name (L4); any other grant is given back.
 */
export function onAcquireReply(state: EngineState, reply: ReplyOf<'acquire'>, now: number): void {
  const { id, name, session, slot } = reply.request
  if (state.givenUp.get(name) === id) state.givenUp.delete(name)
  const election = state.slots.elections[slot]
  const current = election === undefined ? undefined : phaseAwaiting(election, id)
  const { outcome } = reply
  if (outcome.ok && outcome.value.kind === 'granted') {
    const { token } = outcome.value
    const adoptable = isCurrent(state, session) && token > releasedToken(state, session.id, name)
    if (election !== undefined && current !== undefined && adoptable) {
      adopt(state, election, token)
      return
    }
    // An attempt that was given up and a later one may both be granted the one lease, with the one token.
    const ours = isCurrent(state, session) && tokenHeld(state, name) === token
    if (!ours) releaseOrphan(state, session, name, token)
    if (current !== undefined) retryLater(state, slot, current, now)
  } else if (election === undefined || current === undefined) {
    competeIfWaiting(state, name)
  } else if (!outcome.ok) {
    if (election.kind === 'lock') attempted(state, election, { kind: 'failed', error: outcome.error })
    retryLater(state, slot, current, now)
  } else if (outcome.value.kind === 'held') {
    onHeld(state, election, current, outcome.value.holder, now)
  } else {
    // Expired: if it was the current session, its end has been seen to before.
    becomeCandidate(state, election)
  }
}

/** The candidate that this request is the attempt of. */
function phaseAwaiting({ phase }: Election, request: number): PhaseOf<'candidate'> | undefined {
  return phase.phase === 'candidate' && phase.attempt === request ? phase : undefined
}

function onHeld(
  state: EngineState,
  election: Election,
  phase: PhaseOf<'candidate'>,
  holder: string | undefined,
  now: number,
): void {
  const { name, slot } = election
  if (election.heldBy === undefined || election.heldBy.holder !== holder) {
    election.heldBy = { holder }
    state.out.push({ type: 'publish', event: { type: 'LeaseHeld', name, holder } })
  }
  if (!election.watching) {
    election.watching = true
    state.out.push({ type: 'watch', topic: { kind: 'lease', name } })
  }
  if (election.kind === 'lock') attempted(state, election, { kind: 'held', holder })
  if (phase.hinted) becomeCandidate(state, election)
  else retryLater(state, slot, phase, now)
}

/** The token of the term that is held here, or being handed over. */
function tokenHeld(state: EngineState, name: string): bigint | undefined {
  const election = state.terms.get(name)
  return election === undefined ? undefined : termOf(election)?.token
}

function attempted(state: EngineState, election: Election, outcome: AttemptOutcome): void {
  state.out.push({ type: 'attempted', name: election.name, start: election.start, outcome })
}

function adopt(state: EngineState, election: Election, token: bigint): void {
  const { name, start } = election
  noteAdopted(state, name, token)
  stopWatching(state, election)
  election.heldBy = undefined
  const id = state.nextId++
  election.phase = {
    phase: 'leader',
    term: { id, token, adoptedBefore: state.nextId, working: election.kind !== 'plain' },
  }
  state.terms.set(name, election)
  state.out.push({ type: 'elected', name, start, term: id, token })
  state.out.push({ type: 'publish', event: { type: 'Elected', name, token } })
}

/** Tells the locks that wait that no session could be opened. */
export function failAttempts(state: EngineState): void {
  const error = state.openingError
  if (error === undefined) return
  for (const election of state.elections.values()) {
    if (election.kind === 'lock') attempted(state, election, { kind: 'failed', error })
  }
}
