/** Every event that can meet a state: commands of this start and of another, timers due and stale, replies of every call and outcome. */
import type { Session } from '@simba/core'
import type { Request } from '../../src/engine/effect.js'
import type { EngineEvent, Reply } from '../../src/engine/event.js'
import { termOf } from '../../src/engine/state.js'
import type { TimerName } from './notation.js'
import {
  type Call,
  errorOf,
  expired,
  granted,
  held,
  heldBy,
  joined,
  opened,
  type Rig,
  renewed,
  type Value,
} from './rig.js'
import { ELECTION, GROUP, KINDS } from './states.js'

/** The timers of a rig are armed for these, or were. */
const TIMERS: readonly TimerName[] = [
  'renew',
  'deadline',
  'abandoned',
  'close',
  `election:${ELECTION}`,
  `group:${GROUP}`,
]

const OPS: { readonly [Op in Request['op']]: true } = {
  openSession: true,
  keepAlive: true,
  closeSession: true,
  acquire: true,
  release: true,
  join: true,
  leave: true,
  members: true,
}

/** An event, and whether all that was due before it has been kept waiting. */
export interface Happening {
  readonly what: string
  readonly send: (rig: Rig) => void
}

/** What kind of event it is, for the account of what was visited. */
export function kindOf(event: EngineEvent): string {
  switch (event.type) {
    case 'timer':
      return `timer ${typeof event.timer === 'number' ? `election:${ELECTION}` : event.timer}`
    case 'reply':
      return `reply ${event.op} ${event.outcome.ok ? 'answered' : event.outcome.timedOut ? 'timed out' : 'failed'}`
    case 'hint':
      return `hint ${event.hint.kind}`
    default:
      return event.type
  }
}

/** The kinds that every state must have met. */
export const EVENT_KINDS: readonly string[] = [
  'boot',
  'start',
  'stop',
  'stepDown',
  'workExited',
  'join',
  'leave',
  'close',
  'late',
  'hint released',
  'hint members',
  ...TIMERS.map((timer) => `timer ${timer}`),
  ...Object.keys(OPS).flatMap((op) => ['answered', 'failed', 'timed out'].map((how) => `reply ${op} ${how}`)),
]

/** All events for the state that the rig is in. They are to be sent to a rig that went the same way. */
export function everyEvent(rig: Rig): Happening[] {
  return [...commands(rig), ...timers(rig), ...replies(rig)]
}

function commands(rig: Rig): Happening[] {
  const events: EngineEvent[] = [
    { type: 'boot' },
    { type: 'hint', hint: { kind: 'released', name: ELECTION } },
    { type: 'hint', hint: { kind: 'released', name: 'unknown' } },
    { type: 'hint', hint: { kind: 'members', group: GROUP } },
    { type: 'hint', hint: { kind: 'members', group: 'unknown' } },
    { type: 'late', lateMs: 30 },
    { type: 'late', lateMs: 8_000 },
    { type: 'close', force: false },
    { type: 'close', force: true },
    ...[ELECTION, 'b'].flatMap((name) =>
      KINDS.map((kind) => ({ type: 'start', name, start: rig.nextStart, kind }) as const),
    ),
    ...[GROUP, 'h'].map((group) => ({ type: 'join', group, start: rig.nextStart }) as const),
  ]
  // Of the start that runs, and of one that is over.
  for (const start of [rig.startOf(ELECTION), 99]) {
    const name = ELECTION
    events.push({ type: 'stop', name, start })
    for (const cooldownMs of [0, 1_000, 30_000])
      events.push({ type: 'stepDown', name, start, call: 50, cooldownMs })
    for (const term of [rig.termOf(name), 98]) events.push({ type: 'workExited', name, start, term })
  }
  for (const start of [rig.startOf(GROUP), 99]) events.push({ type: 'leave', group: GROUP, start })
  return events.map((event) => ({ what: JSON.stringify(event), send: (other) => other.send(event) }))
}

/** Each timer now, which may be too early or of an earlier phase; and when it is due, with all else still to come. */
function timers(rig: Rig): Happening[] {
  const now = TIMERS.map((timer) => ({
    what: `timer ${timer} now`,
    send: (other: Rig) => other.send({ type: 'timer', timer: other.keyOf(timer) }),
  }))
  const due = [...rig.timers].map(([timer, at]) => ({
    what: `timer ${timer} at ${at}`,
    send(other: Rig) {
      other.freezeUntil(Math.max(other.now, at))
      other.fire(timer)
    },
  }))
  const muchLater = {
    what: 'the process stood still',
    send(other: Rig) {
      other.freezeUntil(other.now + 60_000)
      other.send({ type: 'late', lateMs: 59_000 })
    },
  }
  return [...now, ...due, muchLater]
}

/** To the latest calls of each operation, answered before or not; and to one that an earlier session made. */
function replies(rig: Rig): Happening[] {
  const happenings: Happening[] = []
  for (const op of Object.keys(OPS) as Request['op'][]) {
    const indices = rig.calls.flatMap(({ request }, index) => (request.op === op ? [index] : [])).slice(-3)
    for (const index of indices) {
      const call = rig.calls[index]
      if (call === undefined) continue
      for (const [nth, value] of valuesOf(rig, call.request).entries()) {
        happenings.push({
          what: `answer ${nth} to ${op} ${call.request.id}`,
          send: (other) => answer(other, index, value),
        })
      }
      if (call.replied) continue
      happenings.push(
        { what: `failure of ${op} ${call.request.id}`, send: (other) => other.fail(callAt(other, index)) },
        { what: `timeout of ${op} ${call.request.id}`, send: (other) => timeOut(other, index) },
      )
    }
    const request = requestOfOld(op)
    const outcomes: Reply['outcome'][] = [
      ...valuesOf(rig, request).map((value) => ({ ok: true, value }) as const),
      { ok: false, error: errorOf('refused'), timedOut: false },
      { ok: false, error: errorOf('no answer'), timedOut: true },
    ]
    for (const [nth, outcome] of outcomes.entries()) {
      happenings.push({
        what: `outcome ${nth} of ${op} in an earlier session`,
        send: (other) => other.send({ type: 'reply', op, request, sentAt: -5_000, outcome } as Reply),
      })
    }
  }
  return happenings
}

function callAt(rig: Rig, index: number): Call {
  const call = rig.calls[index]
  if (call === undefined) throw new Error(`The rig has gone another way: there is no call ${index}.`)
  return call
}

function answer(rig: Rig, index: number, value: Value): void {
  rig.answer(callAt(rig, index), value)
}

function timeOut(rig: Rig, index: number): void {
  const call = callAt(rig, index)
  rig.freezeUntil(Math.max(rig.now, call.sentAt + call.timeoutMs))
  rig.timeOut(call)
}

const OLD: Session = { id: 's0', leaseMs: 10_000 }

function requestOfOld(op: Request['op']): Request {
  const session = OLD
  switch (op) {
    case 'openSession':
      return { op, id: 0 }
    case 'keepAlive':
    case 'closeSession':
      return { op, id: 0, session }
    case 'acquire':
      return { op, id: 0, session, name: ELECTION, slot: 0 }
    case 'release':
      return { op, id: 0, session, name: ELECTION, token: 3n }
    case 'join':
    case 'leave':
    case 'members':
      return { op, id: 0, session, group: GROUP }
  }
}

/** What a backend may answer. A token is given to one session only, so the term's own is granted again to its session alone. */
function valuesOf(rig: Rig, request: Request): Value[] {
  const election = rig.state.elections.get(ELECTION)
  const term = election === undefined ? undefined : termOf(election)
  const id = rig.state.session.phase === 'open' ? rig.state.session.session.id : 's1'
  // The same answer once more; no backend gives an id to two sessions.
  const again = rig.state.session.phase === 'open' ? [opened(id)] : []
  switch (request.op) {
    case 'openSession':
      return [opened('s8'), ...again, opened('s8', 3_000), opened('s8', 50), opened('s8', -1)]
    case 'keepAlive':
      return [
        renewed(),
        renewed({ [ELECTION]: term?.token ?? 7n }),
        renewed({ [ELECTION]: 30n }),
        renewed({ unknown: 3n }),
        renewed({ [ELECTION]: term?.token ?? 7n }, 3_000),
        renewed({}, 50),
        expired,
      ]
    case 'acquire': {
      const own = term !== undefined && request.session.id === id ? [granted(term.token)] : []
      return [granted(40n), granted(2n), ...own, heldBy('s9'), held, expired]
    }
    case 'join':
      return [joined, expired]
    case 'members':
      return [[id], ['s9', id], ['s9'], []]
    case 'closeSession':
    case 'release':
    case 'leave':
      return [undefined]
  }
}
