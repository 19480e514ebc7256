/** Every phase of session, election and group meets every event: nothing throws, and the invariants hold, then and ever after. */
import { expect, test, vi } from 'vitest'
import type { Effect } from '../../src/engine/effect.js'
import type {
  ElectionPhase,
  EngineState,
  GroupPhase,
  Lifecycle,
  SessionPhase,
} from '../../src/engine/state.js'
import { EVENT_KINDS, everyEvent, type Happening, kindOf } from './every-event.js'
import { Rig } from './rig.js'
import {
  coldElections,
  coldGroups,
  coldSessions,
  ELECTION,
  electionDetails,
  electionPhases,
  GROUP,
  groupDetails,
  groupPhases,
  KINDS,
  NOWHERE,
  sessions,
  type Way,
} from './states.js'

vi.setConfig({ testTimeout: 120_000 })

const visited = new Set<string>()

/** Goes the ways, sends the event, and notes what met what. */
function meet(start: () => Rig, ways: readonly Way[], happening: Happening): Rig {
  const rig = start()
  for (const { go } of ways) go(rig)
  const phases = phasesOf(rig.state)
  const effects = rig.effects.length
  const { length } = rig.log
  const closed = rig.state.lifecycle.phase === 'closed'
  happening.send(rig)
  for (const { event } of rig.log.slice(length))
    for (const phase of phases) visited.add(`${phase} × ${kindOf(event)}`)
  const broken = rig.effects.slice(effects).flatMap((effect) => flawOf(effect, rig))
  if (closed && rig.effects.length > effects) broken.push('a closed client has effects')
  if (broken.length > 0) throw new Error(broken.join('; '))
  return rig
}

function phasesOf({ lifecycle, session, elections, groups }: EngineState): string[] {
  const election = elections.get(ELECTION)
  const group = groups.get(GROUP)
  return [
    `client ${lifecycle.phase}`,
    `session ${session.phase}`,
    ...(election === undefined ? [] : [`${election.kind} ${election.phase.phase}`]),
    ...(group === undefined ? [] : [`group ${group.phase.phase}`]),
  ]
}

/** Times are numbers that a timer can be set to. */
function flawOf(effect: Effect, { now }: Rig): string[] {
  if (effect.type === 'call' && !(effect.timeoutMs > 0 && effect.timeoutMs <= 10_000)) {
    return [`a ${effect.request.op} may take ${effect.timeoutMs} ms`]
  }
  if (effect.type !== 'arm' || effect.at === undefined) return []
  return effect.at >= now && effect.at <= now + 70_000
    ? []
    : [`${effect.timer} is armed for ${effect.at} at ${now}`]
}

/** No call is answered any more, and the client is closed in the end: nothing may be left. */
function endOf(rig: Rig): void {
  rig.until(rig.now + 25_000)
  rig.close()
  rig.until(rig.now + 3_001)
  rig.close({ force: true })
  rig.until(rig.now + 3_001)
  if (rig.state.lifecycle.phase !== 'closed')
    throw new Error(`the client is ${rig.state.lifecycle.phase} long after its close`)
  if (rig.timers.size > 0) throw new Error(`${[...rig.timers.keys()]} outlive the client`)
}

function meetAll(start: () => Rig, ways: readonly Way[], end: boolean): number {
  const scout = start()
  for (const { go } of ways) go(scout)
  const happenings = everyEvent(scout)
  for (const happening of happenings) {
    try {
      const rig = meet(start, ways, happening)
      if (end) endOf(rig)
    } catch (error) {
      const path = [...ways.map(({ to }) => to), happening.what].join(' + ')
      throw new Error(`${path}: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
  return happenings.length
}

const live = () => Rig.live()
const cold = () => {
  const rig = new Rig()
  rig.boot()
  return rig
}
const idle = () => new Rig()

test('no phase of an election and a group is surprised by any event, in any phase of the session', () => {
  const elections = [NOWHERE, ...KINDS.flatMap(electionPhases)]
  const groups = [NOWHERE, ...groupPhases]
  let met = 0
  for (const election of elections) {
    for (const group of groups) {
      for (const session of sessions) met += meetAll(live, [election, group, session], false)
    }
  }
  expect(met).toBeGreaterThan(50_000)
})

test('nor is any way of being in a phase, and all ends when the client is closed', () => {
  for (const session of sessions) {
    for (const election of KINDS.flatMap((kind) => [...electionPhases(kind), ...electionDetails(kind)])) {
      meetAll(live, [election, session], true)
    }
    for (const group of [...groupPhases, ...groupDetails]) meetAll(live, [group, session], true)
  }
})

test('nor is a client before its first session', () => {
  meetAll(idle, [], true)
  for (const session of coldSessions) {
    for (const election of [NOWHERE, ...KINDS.flatMap(coldElections)]) {
      for (const group of [NOWHERE, ...coldGroups]) meetAll(cold, [election, group, session], true)
    }
  }
})

const CLIENT: { readonly [Phase in Lifecycle['phase']]: true } = {
  running: true,
  closing: true,
  closed: true,
}
/** That a session has ended is seen between two steps only once the client is closed: else the next is being opened. */
const SESSION: { readonly [Phase in SessionPhase['phase']]: true } = {
  idle: true,
  opening: true,
  open: true,
  ended: true,
}
const PHASES: { readonly [Phase in ElectionPhase['phase']]: true } = {
  candidate: true,
  leader: true,
  handover: true,
  releasing: true,
  cooldown: true,
}
const GROUPS: { readonly [Phase in GroupPhase['phase']]: true } = {
  joining: true,
  member: true,
  leaving: true,
  departed: true,
}

test('each phase has met each event', () => {
  const phases = [
    ...Object.keys(CLIENT).map((phase) => `client ${phase}`),
    ...Object.keys(SESSION).map((phase) => `session ${phase}`),
    ...Object.keys(GROUPS).map((phase) => `group ${phase}`),
    ...KINDS.flatMap((kind) =>
      // What has no work has no hand-over to wait in.
      Object.keys(PHASES).flatMap((phase) =>
        kind === 'plain' && phase === 'handover' ? [] : [`${kind} ${phase}`],
      ),
    ),
  ]
  const missing = phases.flatMap((phase) =>
    EVENT_KINDS.flatMap((kind) => (visited.has(`${phase} × ${kind}`) ? [] : [`${phase} × ${kind}`])),
  )
  expect(missing).toEqual([])
})
