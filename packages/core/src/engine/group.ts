/**
 * Membership in partition groups. Whether a join or leave without an answer took effect is unknown, so it is settled: a membership that
 * the user wants by joining again, one that nobody wants by leaving again, until both are answered or the session ends.
 */
import type { SessionId } from '../backend.js'
import type { Command, ReplyOf } from './event.js'
import {
  call,
  type EngineState,
  type Group,
  isCurrent,
  type OpenSession,
  openSessionOf,
  unreachable,
} from './state.js'

const MAX_DOUBTS = 64

export function onJoin(state: EngineState, command: Extract<Command, { readonly type: 'join' }>): void {
  const { group: name, start } = command
  const known = state.groups.get(name)
  if (known !== undefined && known.phase.phase !== 'departed') return // the user's side admits one start at a time
  const phase = { phase: 'joining', request: undefined, retryAt: Infinity } as const
  // Taking the membership on settles what an earlier start left in doubt.
  const group: Group = { name, start, phase, doubts: known?.doubts ?? new Set(), leaveAgain: false }
  state.groups.set(name, group)
  joinIfOpen(state, group)
}

function joinIfOpen(state: EngineState, group: Group): void {
  const open = openSessionOf(state)
  if (open === undefined || state.lifecycle.phase !== 'running') return
  const request = call(state, open.periodMs, (id) => ({
    op: 'join',
    id,
    session: open.session,
    group: group.name,
  }))
  group.doubts.add(request)
  if (group.doubts.size > MAX_DOUBTS) {
    for (const oldest of group.doubts) {
      group.doubts.delete(oldest)
      break
    }
  }
  group.phase = { phase: 'joining', request, retryAt: Infinity }
}

export function onJoinReply(state: EngineState, reply: ReplyOf<'join'>, now: number): void {
  const group = state.groups.get(reply.request.group)
  if (group === undefined || !isCurrent(state, reply.request.session)) return
  const { outcome } = reply
  if (outcome.ok) group.doubts.delete(reply.request.id)
  const { phase } = group
  switch (phase.phase) {
    case 'joining': {
      const current = phase.request === reply.request.id
      const joined = outcome.ok && outcome.value.kind === 'joined'
      // After its timeout an answer is as good as before, as long as no other join is in flight.
      if (joined && (current || phase.request === undefined)) becomeMember(state, group)
      else if (current)
        groupTimer(state, group, { phase: 'joining', request: undefined, retryAt: now + retryMs(state) })
      return
    }
    case 'leaving':
      if (outcome.ok) group.leaveAgain = true
      return
    case 'departed':
      if (!outcome.ok) return
      if (phase.request === undefined) sendLeave(state, group)
      else group.leaveAgain = true
      return
    case 'member':
      return // what took effect late is what is wanted
    default:
      unreachable(phase)
  }
}

function becomeMember(state: EngineState, group: Group): void {
  state.out.push({ type: 'watch', topic: { kind: 'group', group: group.name } })
  refresh(state, group, state.nextId)
}

function refresh(state: EngineState, group: Group, joinedBefore: number): void {
  const open = openSessionOf(state)
  if (open === undefined) return
  const request = call(state, open.periodMs, (id) => ({
    op: 'members',
    id,
    session: open.session,
    group: group.name,
  }))
  group.phase = { phase: 'member', joinedBefore, refresh: request, refreshAt: Infinity, hinted: false }
}

export function onMembersReply(state: EngineState, reply: ReplyOf<'members'>, now: number): void {
  const group = state.groups.get(reply.request.group)
  const open = openSessionOf(state)
  if (group?.phase.phase !== 'member' || group.phase.refresh !== reply.request.id || open === undefined)
    return
  const { joinedBefore, hinted } = group.phase
  if (reply.outcome.ok) {
    const members = reply.outcome.value
    if (!members.includes(open.session.id)) {
      // A leave of an earlier start took effect late, or the backend lost data.
      forget(state, group)
      joinIfOpen(state, group)
      return
    }
    state.out.push({
      type: 'members',
      group: group.name,
      start: group.start,
      session: open.session.id,
      members,
    })
    if (hinted) {
      refresh(state, group, joinedBefore)
      return
    }
  }
  groupTimer(state, group, {
    phase: 'member',
    joinedBefore,
    refresh: undefined,
    refreshAt: now + (reply.outcome.ok ? open.periodMs : retryMs(state)),
    hinted: false,
  })
}

/** Members came or went: look at once, or right after the look in flight. */
export function onMembersHint(state: EngineState, name: string): void {
  const group = state.groups.get(name)
  if (group?.phase.phase !== 'member') return
  if (group.phase.refresh === undefined) refresh(state, group, group.phase.joinedBefore)
  else group.phase = { ...group.phase, hinted: true }
}

export function onLeave(state: EngineState, command: Extract<Command, { readonly type: 'leave' }>): void {
  const group = state.groups.get(command.group)
  if (group?.start !== command.start) return
  const { phase } = group
  if (phase.phase === 'leaving' || phase.phase === 'departed') return
  disarmGroup(state, group)
  if (phase.phase === 'member') forget(state, group)
  const open = openSessionOf(state)
  const neverJoined = phase.phase === 'joining' && group.doubts.size === 0
  if (open === undefined || neverJoined) {
    state.groups.delete(group.name)
    completeStop(state, group)
    return
  }
  group.phase = { phase: 'leaving', request: leaveCall(state, open, group.name) }
}

export function onLeaveReply(state: EngineState, reply: ReplyOf<'leave'>, now: number): void {
  const group = state.groups.get(reply.request.group)
  if (group === undefined) return
  const { phase } = group
  const waited = phase.phase === 'leaving' || phase.phase === 'departed'
  if (!waited || phase.request !== reply.request.id) return
  if (phase.phase === 'leaving') completeStop(state, group)
  if (reply.outcome.ok && group.leaveAgain) {
    group.leaveAgain = false
    sendLeave(state, group)
    return
  }
  if (reply.outcome.ok && group.doubts.size === 0) {
    disarmGroup(state, group)
    state.groups.delete(group.name)
    return
  }
  groupTimer(state, group, { phase: 'departed', request: undefined, retryAt: now + retryMs(state) })
}

function sendLeave(state: EngineState, group: Group): void {
  const open = openSessionOf(state)
  if (open === undefined) return
  const request = leaveCall(state, open, group.name)
  group.phase = { phase: 'departed', request, retryAt: Infinity }
}

function leaveCall(state: EngineState, open: OpenSession, group: string): number {
  return call(state, open.periodMs, (id) => ({ op: 'leave', id, session: open.session, group }))
}

export function onGroupTimer(state: EngineState, name: string, now: number): void {
  const group = state.groups.get(name)
  if (group === undefined) return
  const { phase } = group
  switch (phase.phase) {
    case 'joining':
      if (phase.request === undefined && now >= phase.retryAt) joinIfOpen(state, group)
      return
    case 'member':
      if (phase.refresh === undefined && now >= phase.refreshAt) refresh(state, group, phase.joinedBefore)
      return
    case 'departed':
      if (phase.request === undefined && now >= phase.retryAt) sendLeave(state, group)
      return
    case 'leaving':
      return // a timer of an earlier phase
    default:
      unreachable(phase)
  }
}

/** A new session is a member of nothing yet. */
export function joinGroups(state: EngineState): void {
  for (const group of state.groups.values()) joinIfOpen(state, group)
}

/** With the session every membership is gone: nobody has a view, and nothing is left to settle. */
export function loseMemberships(state: EngineState): void {
  for (const group of state.groups.values()) {
    const { phase } = group
    group.doubts.clear()
    disarmGroup(state, group)
    switch (phase.phase) {
      case 'member':
        forget(state, group)
        group.phase = { phase: 'joining', request: undefined, retryAt: Infinity }
        break
      case 'joining':
        group.phase = { phase: 'joining', request: undefined, retryAt: Infinity }
        break
      case 'leaving':
        state.groups.delete(group.name)
        completeStop(state, group)
        break
      case 'departed':
        state.groups.delete(group.name)
        break
      default:
        unreachable(phase)
    }
  }
}

/** The client is closed: nobody waits for anything any more. */
export function dropGroups(state: EngineState): void {
  for (const group of state.groups.values()) {
    disarmGroup(state, group)
    if (group.phase.phase === 'member') forget(state, group)
    if (group.phase.phase !== 'departed') completeStop(state, group)
  }
  state.groups.clear()
}

/** Drops the view: nothing is assigned to this client until it has a new one. */
function forget(state: EngineState, group: Group): void {
  const members: readonly SessionId[] = []
  state.out.push({ type: 'unwatch', topic: { kind: 'group', group: group.name } })
  state.out.push({ type: 'members', group: group.name, start: group.start, session: undefined, members })
}

function groupTimer(
  state: EngineState,
  group: Group,
  phase: Exclude<Group['phase'], { readonly phase: 'leaving' }>,
): void {
  group.phase = phase
  const at = phase.phase === 'member' ? phase.refreshAt : phase.retryAt
  state.out.push({ type: 'arm', timer: `group:${group.name}`, at })
}

function disarmGroup(state: EngineState, group: Group): void {
  state.out.push({ type: 'arm', timer: `group:${group.name}`, at: undefined })
}

function completeStop(state: EngineState, group: Group): void {
  state.out.push({
    type: 'complete',
    completion: { kind: 'groupStop', group: group.name, start: group.start },
  })
}

/** Between two tries of a call that failed: half a renewal period, but never denser than the smallest backoff. */
function retryMs(state: EngineState): number {
  const open = openSessionOf(state)
  return Math.max(state.timing.minBackoffMs, (open?.periodMs ?? state.timing.renewMs) / 2)
}
