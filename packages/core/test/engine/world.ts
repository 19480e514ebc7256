/**
 * One client over the model backend. Calls take effect and are answered in any order, late, twice or not at all; time passes, also
 * without the client running; users do what they like. The laws are looked at after every step of it.
 */
import type { ElectionKind } from '../../src/engine/event.js'
import { Laws } from './laws.js'
import { ModelBackend } from './model-backend.js'
import { type Call, Rig, TIMING, type Value } from './rig.js'

export type Action =
  | { readonly do: 'pass' | 'calm' | 'freeze'; readonly ms: number }
  | { readonly do: 'start'; readonly name: string; readonly kind: ElectionKind }
  | { readonly do: 'stop' | 'hint' | 'take' | 'letGo' | 'exit' | 'steal'; readonly name: string }
  | { readonly do: 'stepDown'; readonly name: string; readonly ms: number }
  | { readonly do: 'join' | 'leave'; readonly group: string }
  | { readonly do: 'answer' | 'apply' | 'fail' | 'applyAndFail' | 'repeat'; readonly pick: number }
  | { readonly do: 'loseSessions' }
  | { readonly do: 'close'; readonly force: boolean }

/** How long a backend that is well takes to answer. */
const LATENCY_MS = 20

export class World {
  readonly rig: Rig
  readonly backend: ModelBackend
  readonly laws = new Laws()
  /** What the calls that have taken effect were answered. */
  private readonly answers = new Map<Call, Value>()
  private readonly kinds = new Map<number, ElectionKind>()
  private readonly groups = new Set<string>()
  private seen = 0
  private stepDowns = 0

  constructor(seed: number, rate: number) {
    this.rig = new Rig({ ...TIMING, retryJitterMs: 1_000 }, seed)
    this.backend = new ModelBackend(rate)
  }

  run(actions: readonly Action[]): void {
    for (const action of actions) {
      this.act(action)
      this.look()
      const broken = [...this.laws.broken, ...this.unowned()]
      if (broken.length > 0)
        throw new Error(`${broken.join('; ')} after ${JSON.stringify(action)} at ${this.rig.now}`)
    }
  }

  private act(action: Action): void {
    const { rig, backend, laws } = this
    switch (action.do) {
      case 'pass':
        for (let end = rig.now + action.ms; rig.now < end; ) {
          rig.until(Math.min(end, rig.nextAt()))
          this.look()
        }
        return
      case 'calm':
        this.heal(action.ms)
        return
      case 'freeze':
        rig.freezeUntil(rig.now + action.ms)
        return
      case 'start':
        this.start(action.name, action.kind)
        return
      case 'stop':
        rig.stop(action.name)
        return
      case 'stepDown':
        this.stepDown(action.name, action.ms)
        return
      case 'exit':
        this.exit(({ name }) => name === action.name)
        return
      case 'join':
        this.join(action.group)
        return
      case 'leave':
        this.groups.delete(action.group)
        rig.leave(action.group)
        return
      case 'hint':
        rig.released(action.name)
        rig.hint({ kind: 'members', group: action.name })
        return
      case 'take':
        backend.takeAsStranger(action.name, rig.now)
        return
      case 'letGo':
        if (backend.releaseAsStranger(action.name)) rig.released(action.name)
        return
      case 'steal':
        laws.honest = false
        backend.stealAsStranger(action.name)
        return
      case 'loseSessions':
        laws.honest = false
        backend.loseSessions()
        return
      case 'close':
        laws.forced ||= action.force
        rig.close(action)
        return
      default:
        this.reply(action.do, action.pick)
    }
  }

  private start(name: string, kind: ElectionKind): void {
    const { rig } = this
    if (rig.state.elections.has(name) || rig.state.lifecycle.phase !== 'running') return
    this.kinds.set(rig.nextStart, kind)
    this.laws.open.set(`start ${rig.nextStart}`, rig.nextStart)
    rig.start(name, kind)
  }

  private stepDown(name: string, ms: number): void {
    if (!this.rig.state.elections.has(name)) return
    this.stepDowns += 1
    this.laws.open.set(`step-down ${this.stepDowns}`, this.rig.startOf(name))
    this.rig.stepDown(name, ms, this.stepDowns)
  }

  private join(group: string): void {
    const { rig } = this
    if (rig.state.lifecycle.phase !== 'running' || this.laws.open.has(`start ${rig.startOf(group)}`)) return
    this.laws.open.set(`start ${rig.nextStart}`, rig.nextStart)
    this.groups.add(group)
    rig.join(group)
  }

  /** The first running work that is asked for exits. */
  private exit(which: (work: { readonly name: string; readonly revoked: boolean }) => boolean): void {
    const work = this.laws.running().find(which)
    if (work === undefined) return
    work.exited = true
    const { name, start, term } = work
    this.rig.send({ type: 'workExited', name, start, term })
  }

  private reply(how: 'answer' | 'apply' | 'fail' | 'applyAndFail' | 'repeat', pick: number): void {
    const { rig } = this
    const calls = rig.calls.slice(-40)
    const among = calls.filter((each) => {
      // A call that was given up may still take effect and be answered; one that was answered, be answered again.
      const done = this.answers.has(each)
      if (how === 'repeat') return each.replied && done
      return how === 'answer' || how === 'apply' ? !each.replied || !done : !each.replied
    })
    // The latest that are waited for come first: they are picked most.
    among.sort((a, b) => Number(a.replied) - Number(b.replied) || b.request.id - a.request.id)
    const call = among[pick % Math.max(1, among.length)]
    if (call === undefined) return
    if (how === 'fail') {
      rig.fail(call)
      return
    }
    const answer = this.answers.has(call) ? this.answers.get(call) : this.apply(call)
    if (how === 'applyAndFail') rig.fail(call)
    if (how === 'answer' || how === 'repeat') rig.answer(call, answer)
  }

  private apply(call: Call): Value {
    const answer = this.backend.apply(call.request, this.rig.timing.leaseMs, this.rig.now)
    this.answers.set(call, answer)
    return answer
  }

  private look(): void {
    const { rig, laws } = this
    for (; this.seen < rig.effects.length; this.seen += 1) {
      const effect = rig.effects[this.seen]
      if (effect !== undefined) laws.take(effect, rig.now, (start) => this.kinds.get(start) !== 'plain')
    }
  }

  /** Whoever is told that a term is valid owns its lease in the backend. */
  private unowned(): string[] {
    const { rig, backend, laws } = this
    const { session } = rig.state
    if (!laws.honest || session.phase !== 'open' || rig.now >= session.deadline) return []
    const owned = backend.ownedBy(session.session.id, rig.now)
    return [...rig.state.elections.values()].flatMap(({ name, phase }) =>
      (phase.phase === 'leader' || phase.phase === 'handover') && owned[name] !== phase.term.token
        ? [`${name} has a term whose lease is not owned`]
        : [],
    )
  }

  /** All work exits. */
  exitAll(): void {
    while (this.laws.running().length > 0) this.exit(() => true)
    this.look()
  }

  /** From now on all is well for `ms`: new calls are answered truthfully and at once, work exits when its term ends. */
  heal(ms: number): void {
    const { rig } = this
    const since = rig.calls.length
    for (const end = rig.now + ms; rig.now < end; ) {
      this.exit(({ revoked }) => revoked)
      this.look()
      const call = rig.calls.slice(since).find(({ replied }) => !replied)
      if (call === undefined) {
        rig.until(Math.min(end, rig.nextAt()))
      } else {
        rig.until(Math.max(rig.now, call.sentAt + LATENCY_MS))
        rig.answer(call, this.apply(call))
      }
      this.look()
    }
    if (this.laws.broken.length > 0) throw new Error(this.laws.broken.join('; '))
  }

  /** The groups that the user runs. */
  get wantedGroups(): string[] {
    return [...this.groups].sort()
  }
}
