/**
 * One start of one name, from the start until its stop has settled: the user's side of one election of the engine. Elections, tasks,
 * iterations, locks and partitions are all built on it, by what they do when a term begins and ends.
 */
import type { AttemptOutcome, Completion } from '../engine/effect.js'
import type { Command, ElectionKind } from '../engine/event.js'
import type { RevokeReason } from '../revoke-reason.js'
import type { AbortListeners } from './abort-listeners.js'
import type { LiveTerm } from './live-term.js'
import { OwnFrames } from './own-frames.js'

/** What a candidacy does with its terms. All are called from within the shell: they must not run user code before the next microtask. */
export interface CandidacyHooks {
  elected(term: LiveTerm, candidacy: Candidacy): void
  /** The hand-over of a term is finished, or the term was lost. */
  handedOver?(term: LiveTerm, reason: RevokeReason, candidacy: Candidacy): void
  attempted?(outcome: AttemptOutcome): void
  /** The engine has let go of the name. */
  stopped?(): void
  /** What must have run before a stop or step-down settles. */
  drained?(): Promise<void> | undefined
  /** The stop has settled: the name is free. */
  settled?(): void
}

/** A run of the user's work in a term. */
export interface Run {
  readonly term: LiveTerm
  readonly startedAt: number
}

export type CandidacyState = 'candidate' | 'leader' | 'handover' | 'cooldown'

const NO_RUNS: ReadonlySet<Run> = new Set()

/** There may be a hundred thousand idle ones in a process: what only some of them need is made when it is needed. */
export class Candidacy {
  /** The term until its hand-over is finished. */
  private current: LiveTerm | undefined
  private cooldownUntil = -Infinity
  private stopping = false
  private settled = false
  /** Unties it from the signal that stops it. */
  private untie: (() => void) | undefined
  private waiter: { readonly done: Promise<void>; readonly settle: () => void } | undefined
  private ownFrames: OwnFrames | undefined
  private ownRuns: Set<Run> | undefined
  private nextCall = 0
  private stepDowns: Map<number, () => void> | undefined

  constructor(
    readonly name: string,
    readonly start: number,
    readonly kind: ElectionKind,
    private readonly client: {
      post(command: Command): void
      /** The engine has let go of the name, and the last callback has run. */
      forget(candidacy: Candidacy): void
    },
    private readonly hooks: CandidacyHooks,
  ) {}

  /** Stops it when the signal aborts. */
  follow(signal: AbortSignal, aborts: AbortListeners, aborted: (() => void) | undefined): void {
    this.untie = aborts.add(signal, () => {
      aborted?.()
      void this.stop()
    })
  }

  /** Settles when it has stopped for good, after the last callback. */
  get done(): Promise<void> {
    if (this.waiter === undefined) {
      let settle: () => void = () => {}
      const done = new Promise<void>((resolve) => {
        settle = resolve
      })
      this.waiter = { done, settle }
      if (this.settled) settle()
    }
    return this.waiter.done
  }

  /** The runs and callbacks of this candidacy, for calls from inside them. */
  get frames(): OwnFrames {
    this.ownFrames ??= new OwnFrames()
    return this.ownFrames
  }

  calledFromInside(): boolean {
    return this.ownFrames?.calledFromInside() ?? false
  }

  /** Work that has not exited: more than one run if work ignored the end of its term. */
  get runs(): ReadonlySet<Run> {
    return this.ownRuns ?? NO_RUNS
  }

  beginRun(term: LiveTerm, now: number): Run {
    const run = { term, startedAt: now }
    this.ownRuns ??= new Set()
    this.ownRuns.add(run)
    return run
  }

  /** The run has exited: a hand-over that waits for it may go on. */
  endRun(run: Run): void {
    this.ownRuns?.delete(run)
    this.workExited(run.term)
  }

  /** The term that has not been revoked. */
  get term(): LiveTerm | undefined {
    return this.current?.reason === undefined ? this.current : undefined
  }

  state(now: number): CandidacyState {
    if (this.current !== undefined) return this.current.reason === undefined ? 'leader' : 'handover'
    return now < this.cooldownUntil ? 'cooldown' : 'candidate'
  }

  get isStopping(): boolean {
    return this.stopping
  }

  stop(): Promise<void> {
    if (!this.stopping) {
      this.stopping = true
      this.client.post({ type: 'stop', name: this.name, start: this.start })
    }
    return this.done
  }

  /** Settles when the hand-over is finished and the callbacks have run, or with the stop. */
  stepDown(cooldownMs: number, now: number): Promise<void> {
    if (this.stopping) return this.done
    this.cooldownUntil = Math.max(this.cooldownUntil, now + cooldownMs)
    return new Promise((resolve) => {
      const call = this.nextCall++
      this.stepDowns ??= new Map()
      this.stepDowns.set(call, resolve)
      this.client.post({ type: 'stepDown', name: this.name, start: this.start, call, cooldownMs })
    })
  }

  workExited(term: LiveTerm): void {
    this.client.post({ type: 'workExited', name: this.name, start: this.start, term: term.id })
  }

  onElected(term: LiveTerm): void {
    this.current = term
    this.hooks.elected(term, this)
  }

  onRevoked(reason: RevokeReason): void {
    this.current?.end(reason)
  }

  onAttempted(outcome: AttemptOutcome): void {
    this.hooks.attempted?.(outcome)
  }

  onComplete(completion: Extract<Completion, { readonly kind: 'term' | 'stepDown' | 'stop' }>): void {
    switch (completion.kind) {
      case 'term': {
        const term = this.current
        this.current = undefined
        if (term !== undefined) this.hooks.handedOver?.(term, completion.reason, this)
        return
      }
      case 'stepDown': {
        const resolve = this.stepDowns?.get(completion.call)
        this.stepDowns?.delete(completion.call)
        if (resolve !== undefined) this.afterCallbacks(resolve)
        return
      }
      case 'stop':
        this.stopping = true
        this.hooks.stopped?.()
        this.afterCallbacks(() => this.settle())
        return
    }
  }

  private settle(): void {
    this.settled = true
    this.untie?.()
    this.client.forget(this)
    this.hooks.settled?.()
    this.waiter?.settle()
    // Step-downs that the engine has not heard of, since it had let go of the name.
    for (const resolve of this.stepDowns?.values() ?? []) resolve()
  }

  private afterCallbacks(then: () => void): void {
    const drained = this.hooks.drained?.()
    if (drained === undefined) then()
    else void drained.then(then)
  }
}
