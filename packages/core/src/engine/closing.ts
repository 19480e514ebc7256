/**
 * Closing the client: elections are stopped at once and work is waited for as a stop does; at last the session is closed, which frees
 * whatever is left. Only that last part takes backend time that the user waits for, and it is bounded by one call timeout.
 */
import { closeElection } from './election.js'
import type { ReplyOf } from './event.js'
import { dropGroups, onLeave } from './group.js'
import { sendRelease } from './release.js'
import { endSession } from './session.js'
import { call, type EngineState, type Lifecycle, type OpenSession } from './state.js'

type Closing = Extract<Lifecycle, { readonly phase: 'closing' }>

export function onClose(state: EngineState, force: boolean): void {
  const { lifecycle } = state
  if (lifecycle.phase === 'closed') return
  if (lifecycle.phase === 'running') {
    state.lifecycle = {
      phase: 'closing',
      force,
      working: [...state.terms.values()],
      finished: [],
      until: undefined,
      retryAt: -Infinity,
      request: undefined,
    }
  } else {
    if (lifecycle.force || !force) return
    state.lifecycle = { ...lifecycle, force }
  }
  for (const election of [...state.elections.values()]) closeElection(state, election, force)
  if (!waitsForWork(state, state.lifecycle)) return
  for (const group of [...state.groups.values()]) {
    onLeave(state, { type: 'leave', group: group.name, start: group.start })
  }
}

/** Nobody begins work while the client closes, so what is not waited for once never is again. */
function waitsForWork(state: EngineState, { working }: Closing): boolean {
  for (let last = working.at(-1); last !== undefined; last = working.at(-1)) {
    if (last.phase.phase === 'handover' && state.terms.get(last.name) === last) return true
    working.pop()
  }
  return false
}

/** Takes closing as far as it can go now; runs at the end of each step. */
export function advanceClosing(state: EngineState, now: number): void {
  const { lifecycle, session } = state
  if (lifecycle.phase !== 'closing') return
  if (waitsForWork(state, lifecycle)) {
    // Others shall not wait for the slowest work: what is finished is given back by itself.
    if (session.phase === 'open') releaseFinished(state, lifecycle, session)
    return
  }
  const until = lifecycle.until ?? now + (session.phase === 'open' ? session.periodMs : state.timing.renewMs)
  if (now >= until) {
    finishClosing(state, now)
    return
  }
  if (session.phase === 'open') {
    if (lifecycle.request === undefined && now >= lifecycle.retryAt) {
      sendCloseSession(state, lifecycle, session, until, now)
    }
  } else if (session.phase === 'opening' && session.request !== undefined) {
    // What is being opened shall not be left behind.
    waitUntil(state, { ...lifecycle, until }, until)
  } else {
    finishClosing(state, now)
  }
}

function releaseFinished(state: EngineState, { finished }: Closing, open: OpenSession): void {
  for (const election of finished.splice(0)) {
    const { phase } = election
    if (phase.phase !== 'releasing' || phase.request !== undefined) continue
    const request = sendRelease(state, open.session, election.name, phase.term.token)
    election.phase = { ...phase, request }
  }
}

function sendCloseSession(
  state: EngineState,
  lifecycle: Closing,
  open: OpenSession,
  until: number,
  now: number,
): void {
  const request = call(state, until - now, (id) => ({ op: 'closeSession', id, session: open.session }))
  waitUntil(state, { ...lifecycle, until, request }, until)
}

function waitUntil(state: EngineState, lifecycle: Closing, at: number): void {
  state.lifecycle = lifecycle
  state.out.push({ type: 'arm', timer: 'close', at })
}

export function onSessionClosed(state: EngineState, reply: ReplyOf<'closeSession'>, now: number): void {
  const { lifecycle } = state
  if (lifecycle.phase !== 'closing' || lifecycle.request !== reply.request.id) return
  if (reply.outcome.ok || lifecycle.until === undefined) {
    finishClosing(state, now)
    return
  }
  const retryAt = now + state.timing.minBackoffMs
  waitUntil(state, { ...lifecycle, request: undefined, retryAt }, Math.min(retryAt, lifecycle.until))
}

function finishClosing(state: EngineState, now: number): void {
  const { lifecycle } = state
  const until = lifecycle.phase === 'closing' ? lifecycle.until : undefined
  const leftMs = until === undefined ? state.timing.renewMs : Math.max(0, until - now)
  if (state.session.phase === 'open') endSession(state, state.session, 'CLOSED', now)
  dropGroups(state)
  state.abandoned.clear()
  for (const timer of ['renew', 'deadline', 'abandoned', 'close'] as const) {
    state.out.push({ type: 'arm', timer, at: undefined })
  }
  state.lifecycle = { phase: 'closed' }
  state.out.push({ type: 'complete', completion: { kind: 'close', leftMs } })
}
