/** What the user asks of an election, and its timer: one function per event, one case per phase. */
import { becomeCandidate, compete, disarmElection, giveUp } from './candidate.js'
import type { Slot } from './effect.js'
import type { Command } from './event.js'
import { completeStepDowns, coolDown, endHandover, handOver, removeElection } from './handover.js'
import { freeSlot, settle } from './slots.js'
import { type Afterwards, type Election, type EngineState, unreachable } from './state.js'
import { recallTokens } from './tokens.js'

type CommandOf<T extends Command['type']> = Extract<Command, { readonly type: T }>

export function onStart(state: EngineState, command: CommandOf<'start'>): void {
  const { name, start, kind } = command
  if (state.elections.has(name)) return // the user's side admits one start of a name at a time
  const election: Election = {
    name,
    slot: freeSlot(state),
    start,
    kind,
    phase: { phase: 'candidate', attempt: undefined, retryAt: Infinity, hinted: false, busy: undefined },
    watching: false,
    heldBy: undefined,
  }
  settle(state, election)
  recallTokens(state, name)
  compete(state, election)
}

export function onStop(state: EngineState, command: CommandOf<'stop'>): void {
  const election = find(state, command)
  if (election === undefined) return
  const { phase } = election
  switch (phase.phase) {
    case 'candidate':
      giveUp(state, election, phase)
      removeElection(state, election, [])
      return
    case 'cooldown':
      disarmElection(state, election.slot)
      removeElection(state, election, [])
      return
    case 'leader':
      handOver(state, election, phase.term, 'STOPPED', { kind: 'stop', calls: [] })
      return
    case 'handover':
    case 'releasing':
      election.phase = { ...phase, next: { kind: 'stop', calls: phase.next.calls } }
      return
    default:
      unreachable(phase)
  }
}

/** The cooldown counts from the call, and never shortens an earlier one. */
export function onStepDown(state: EngineState, command: CommandOf<'stepDown'>, now: number): void {
  const election = find(state, command)
  if (election === undefined) return
  const until = now + command.cooldownMs
  const { phase } = election
  switch (phase.phase) {
    case 'candidate':
      giveUp(state, election, phase)
      completeStepDowns(state, election, [command.call])
      coolDown(state, election, until, now)
      return
    case 'cooldown':
      completeStepDowns(state, election, [command.call])
      coolDown(state, election, Math.max(until, phase.until), now)
      return
    case 'leader':
      handOver(state, election, phase.term, 'STEPPED_DOWN', {
        kind: 'cooldown',
        until,
        calls: [command.call],
      })
      return
    case 'handover':
    case 'releasing':
      election.phase = { ...phase, next: longer(phase.next, until, command.call) }
      return
    default:
      unreachable(phase)
  }
}

function longer(next: Afterwards, until: number, call: number): Afterwards {
  const calls = [...next.calls, call]
  return next.kind === 'stop'
    ? { kind: 'stop', calls }
    : { kind: 'cooldown', until: Math.max(next.until, until), calls }
}

export function onWorkExited(state: EngineState, command: CommandOf<'workExited'>): void {
  const election = find(state, command)
  if (election === undefined) return
  const { phase } = election
  switch (phase.phase) {
    case 'candidate':
      if (phase.busy === command.term) becomeCandidate(state, election)
      return
    case 'leader':
      if (phase.term.id === command.term) phase.term.working = false
      return
    case 'handover':
      if (phase.term.id !== command.term) return
      phase.term.working = false
      endHandover(state, election, phase)
      return
    case 'releasing':
      if (phase.term.id === command.term) phase.term.working = false
      return
    case 'cooldown':
      if (phase.busy === command.term) election.phase = { ...phase, busy: undefined }
      return
    default:
      unreachable(phase)
  }
}

export function onElectionTimer(state: EngineState, slot: Slot, now: number): void {
  const election = state.slots.elections[slot]
  if (election === undefined) return
  const { phase } = election
  switch (phase.phase) {
    case 'candidate':
      if (phase.attempt === undefined && now >= phase.retryAt) compete(state, election)
      return
    case 'handover':
      if (now >= phase.until) endHandover(state, election, phase)
      return
    case 'cooldown':
      if (now >= phase.until) becomeCandidate(state, election, phase.busy)
      return
    case 'leader':
    case 'releasing':
      return // a timer of an earlier phase
    default:
      unreachable(phase)
  }
}

/** A client that closes waits for work in order, or with force not at all. Nobody competes any more. */
export function closeElection(state: EngineState, election: Election, force: boolean): void {
  const { phase } = election
  if (phase.phase === 'leader' && force) phase.term.working = false
  if (phase.phase === 'handover' && force) endHandover(state, election, phase)
  onStop(state, { type: 'stop', name: election.name, start: election.start })
}

function find(
  state: EngineState,
  command: { readonly name: string; readonly start: number },
): Election | undefined {
  const election = state.elections.get(command.name)
  return election?.start === command.start ? election : undefined
}
