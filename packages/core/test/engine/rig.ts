/**
 * Drives the engine as the shell does, by hand: commands in, effects out as texts. It keeps the shell's duties (timers fire, calls are
 * answered by their timeout at the latest) and looks at the invariants after every step.
 */
import type { FlatError, Hint, OwnedLease, SessionId } from '@simba/core'
import type { Effect, Request, TimerKey } from '../../src/engine/effect.js'
import type { ElectionKind, EngineEvent, Reply } from '../../src/engine/event.js'
import { checkState, EffectChecker } from '../../src/engine/invariants.js'
import { createState, type EngineState } from '../../src/engine/state.js'
import { step } from '../../src/engine/step.js'
import type { Timing } from '../../src/engine/timing.js'
import { notationOf, subjectOf, type TimerName } from './notation.js'

/** A session that is granted its whole lease is valid for 9,800 ms after the request; a candidate tries every 1,500 ms. */
export const TIMING: Timing = {
  leaseMs: 10_000,
  renewMs: 3_000,
  drift: 0.01,
  marginMs: 100,
  retryJitterMs: 0,
  minBackoffMs: 100,
}

/** More steps than any test takes: a rig that comes here goes round in circles. */
const MAX_STEPS = 200_000

/** A request that was sent. */
export interface Call {
  readonly request: Request
  readonly sentAt: number
  readonly timeoutMs: number
  /** Whether a reply was given: an answer, an error, or that there was none in time. */
  replied: boolean
}

export type Value = Extract<Reply['outcome'], { readonly ok: true }>['value']

export const granted = (token: bigint): Value => ({ kind: 'granted', token })
export const heldBy = (holder: SessionId): Value => ({ kind: 'held', holder })
export const held: Value = { kind: 'held' }
export const expired: Value = { kind: 'expired' }
export const joined: Value = { kind: 'joined' }
export const opened = (id: SessionId, remainingMs = 10_000): Value => ({ id, remainingMs })

/** The answer to a keep-alive, with the leases owned: `renewed({ report: 7n })`. */
export function renewed(owned: { readonly [name: string]: bigint } = {}, remainingMs = 10_000): Value {
  const leases: OwnedLease[] = Object.entries(owned).map(([name, token]) => ({ name, token }))
  return { kind: 'renewed', remainingMs, owned: leases }
}

export class Rig {
  now = 0
  readonly state: EngineState
  readonly calls: Call[] = []
  readonly timers = new Map<TimerName, number>()
  /** All that went in, for a replay. */
  readonly log: { readonly event: EngineEvent; readonly now: number }[] = []
  /** All that came out. */
  readonly effects: Effect[] = []
  /** The calls without a reply. */
  private readonly waiting = new Set<Call>()
  private readonly checker = new EffectChecker()
  private readonly starts = new Map<string, number>()
  /** Who is in each slot, or was the last to be. */
  private readonly settled = new Map<number, string>()
  private readonly terms = new Map<string, number>()
  private ids = 0

  constructor(
    readonly timing: Timing = TIMING,
    seed = 1,
  ) {
    this.state = createState(timing, seed)
  }

  /** One step, without time passing. */
  send(event: EngineEvent): string[] {
    if (event.type === 'reply') this.checker.answered(event.request.id)
    this.log.push({ event, now: this.now })
    if (this.log.length > MAX_STEPS) throw new Error(this.circle())
    const effects = step(this.state, event, this.now)
    for (const { name, slot } of this.state.elections.values()) {
      if (this.slotOf(name) !== slot) this.settled.delete(this.slotOf(name))
      this.settled.set(slot, name)
    }
    for (const effect of effects) this.take(effect)
    const broken = [...this.checker.check(effects), ...checkState(this.state, this.now)]
    if (broken.length > 0) throw new Error(`${broken.join('; ')} after ${shown(event)} at ${this.now}`)
    return effects.map((effect) => notationOf(effect, (key) => this.nameOf(key)))
  }

  private circle(): string {
    const last = this.log.slice(-6).map(({ event, now }) => `${shown(event)} at ${now}`)
    return `The engine took ${MAX_STEPS} steps and is at ${this.now} ms. The last ones were:\n${last.join('\n')}`
  }

  private take(effect: Effect): void {
    this.effects.push(effect)
    if (effect.type === 'call') {
      const call = {
        request: effect.request,
        sentAt: this.now,
        timeoutMs: effect.timeoutMs,
        replied: false,
      }
      this.calls.push(call)
      this.waiting.add(call)
    } else if (effect.type === 'arm') {
      if (effect.at === undefined) this.timers.delete(this.nameOf(effect.timer))
      else this.timers.set(this.nameOf(effect.timer), effect.at)
    } else if (effect.type === 'elected') {
      this.terms.set(effect.name, effect.term)
    }
  }

  /** Lets time pass up to `at`: timers fire and calls time out when they are due. */
  until(at: number): string[] {
    const texts: string[] = []
    for (let next = this.nextDue(); next !== undefined && next.at <= at; next = this.nextDue()) {
      this.now = Math.max(this.now, next.at)
      texts.push(...next.run())
    }
    this.now = Math.max(this.now, at)
    return texts
  }

  /** The number that the next start will bear. */
  get nextStart(): number {
    return this.ids + 1
  }

  /** Time has passed, and nothing has run yet: the process stood still. */
  freezeUntil(at: number): void {
    this.now = at
  }

  private nextDue(): { readonly at: number; run(): string[] } | undefined {
    let next: { readonly at: number; run(): string[] } | undefined
    for (const [timer, at] of this.timers) {
      if (next === undefined || at < next.at) next = { at, run: () => this.fire(timer) }
    }
    for (const call of this.waiting) {
      const at = call.sentAt + call.timeoutMs
      if (next === undefined || at < next.at) next = { at, run: () => this.timeOut(call) }
    }
    return next
  }

  /** When the next timer or timeout is due. */
  nextAt(): number {
    return this.nextDue()?.at ?? Infinity
  }

  fire(timer: TimerName): string[] {
    this.timers.delete(timer)
    return this.send({ type: 'timer', timer: this.keyOf(timer) })
  }

  slotOf(name: string): number {
    for (const [slot, occupant] of this.settled) if (occupant === name) return slot
    return 1_000
  }

  private nameOf(key: TimerKey): TimerName {
    if (typeof key !== 'number') return key
    return `election:${this.settled.get(key)}`
  }

  /** The timer's key in the engine; an election that never was has a slot that was never taken. */
  keyOf(timer: TimerName): TimerKey {
    return isElectionTimer(timer) ? this.slotOf(timer.slice('election:'.length)) : timer
  }

  /** The latest call of this kind without a reply. */
  pending(op: Request['op'], subject?: string): Call {
    const call = this.calls.findLast(
      ({ request, replied }) =>
        !replied && request.op === op && (subject === undefined || subjectOf(request) === subject),
    )
    if (call === undefined) throw new Error(`No ${op} ${subject ?? ''} is in flight.`)
    return call
  }

  answer(call: Call, value: Value = undefined): string[] {
    return this.reply(call, { ok: true, value })
  }

  fail(call: Call, message = 'refused'): string[] {
    return this.reply(call, { ok: false, error: errorOf(message), timedOut: false })
  }

  timeOut(call: Call): string[] {
    return this.reply(call, { ok: false, error: errorOf('no answer'), timedOut: true })
  }

  private reply(call: Call, outcome: Reply['outcome']): string[] {
    call.replied = true
    this.waiting.delete(call)
    const { request, sentAt } = call
    // A test may well answer a request with what belongs to another: that is its business.
    return this.send({ type: 'reply', op: request.op, request, sentAt, outcome } as Reply)
  }

  boot(): string[] {
    return this.send({ type: 'boot' })
  }

  start(name: string, kind: ElectionKind = 'plain'): string[] {
    const start = ++this.ids
    this.starts.set(name, start)
    return this.send({ type: 'start', name, start, kind })
  }

  stop(name: string): string[] {
    return this.send({ type: 'stop', name, start: this.startOf(name) })
  }

  stepDown(name: string, cooldownMs: number, call = 1): string[] {
    return this.send({ type: 'stepDown', name, start: this.startOf(name), call, cooldownMs })
  }

  /** The work of the name's latest term has exited. */
  workExited(name: string): string[] {
    return this.send({ type: 'workExited', name, start: this.startOf(name), term: this.termOf(name) })
  }

  join(group: string): string[] {
    const start = ++this.ids
    this.starts.set(group, start)
    return this.send({ type: 'join', group, start })
  }

  leave(group: string): string[] {
    return this.send({ type: 'leave', group, start: this.startOf(group) })
  }

  close(options: { readonly force: boolean } = { force: false }): string[] {
    return this.send({ type: 'close', force: options.force })
  }

  released(name: string): string[] {
    return this.hint({ kind: 'released', name })
  }

  hint(hint: Hint): string[] {
    return this.send({ type: 'hint', hint })
  }

  startOf(name: string): number {
    return this.starts.get(name) ?? 0
  }

  termOf(name: string): number {
    return this.terms.get(name) ?? 0
  }

  /** A client with an open session. */
  static live(timing: Timing = TIMING, seed = 1, grantedMs = 10_000): Rig {
    const rig = new Rig(timing, seed)
    rig.boot()
    rig.answer(rig.pending('openSession'), opened('s1', grantedMs))
    return rig
  }

  /** Starts an election that wins at once. */
  lead(name: string, token: bigint, kind: ElectionKind = 'plain'): string[] {
    this.start(name, kind)
    return this.answer(this.pending('acquire', name), granted(token))
  }

  /** Starts a group that is a member at once, alone. */
  member(group: string): void {
    this.join(group)
    this.answer(this.pending('join', group), joined)
    this.answer(this.pending('members', group), ['s1'])
  }

  /** Lets the next renewal come and answers it. */
  renew(owned: { readonly [name: string]: bigint } = {}, remainingMs = 10_000): string[] {
    this.until(this.timers.get('renew') ?? this.now)
    return this.answer(this.pending('keepAlive'), renewed(owned, remainingMs))
  }
}

function isElectionTimer(timer: TimerName): timer is `election:${string}` {
  return timer.startsWith('election:')
}

export function errorOf(message: string): FlatError {
  return { name: 'BackendError', message, code: 'SIMBA_BACKEND' }
}

function shown(event: EngineEvent): string {
  return JSON.stringify(event, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))
}
