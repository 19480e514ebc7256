/**
 * The engine's side of the shell: runs `step` for one event at a time, never re-entered, and carries out calls, timers and hints. What
 * faces the user goes to it as notices, which are plain data: this side can move to a thread of its own.
 */
import type { HintSubscription, LeaseBackend } from '../backend.js'
import type { Effect, TimerKey } from '../engine/effect.js'
import type { Command, EngineEvent } from '../engine/event.js'
import { createState, type EngineState, unreachable } from '../engine/state.js'
import { step } from '../engine/step.js'
import type { Timing } from '../engine/timing.js'
import { BackendCalls } from './backend-calls.js'
import type { Clock } from './clock.js'
import { flattenError } from './flat-error.js'
import type { TimerHeap } from './timer-heap.js'
import type { TermCell, ValidityTable } from './validity.js'

/** What the user's side is told. */
export type Notice =
  | (Extract<Effect, { readonly type: 'elected' }> & { readonly cell: TermCell })
  | Extract<Effect, { readonly type: 'revoked' | 'attempted' | 'complete' | 'members' | 'publish' }>

export interface EngineLoopOptions {
  readonly backend: LeaseBackend
  readonly timing: Timing
  readonly metadata: string
  readonly clock: Clock
  readonly timers: TimerHeap
  readonly seed: number
  readonly validity: ValidityTable
  readonly onNotice: (notice: Notice) => void
}

/** From this lateness on the engine is told; below, it is the ordinary coarseness of timers. */
const NOTABLE_LATENESS_MS = 20

export class EngineLoop {
  private readonly state: EngineState
  private readonly calls: BackendCalls
  private readonly queue: EngineEvent[] = []
  private readonly onTimer = (timer: TimerKey): void => this.run({ type: 'timer', timer })
  private hints: HintSubscription | undefined
  private running = false
  private closed = false
  /** So that one block of the event loop is told of once, however many events follow it. */
  private latestReported = -Infinity

  constructor(private readonly options: EngineLoopOptions) {
    const { backend, timing, metadata, clock, timers, seed } = options
    this.state = createState(timing, seed)
    this.calls = new BackendCalls(backend, { leaseMs: timing.leaseMs, metadata }, clock, timers, (reply) =>
      this.run(reply),
    )
  }

  post(command: Command): void {
    this.run(command)
  }

  private run(event: EngineEvent): void {
    if (this.closed) return
    this.queue.push(event)
    if (this.running) return
    this.running = true
    try {
      for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) this.take(next)
    } finally {
      this.running = false
    }
  }

  private take(event: EngineEvent): void {
    const now = this.options.clock.now()
    const lateMs = this.options.timers.lateness(now)
    if (lateMs >= NOTABLE_LATENESS_MS && now - lateMs > this.latestReported) {
      this.latestReported = now
      this.perform(step(this.state, { type: 'late', lateMs }, now))
    }
    this.perform(step(this.state, event, now))
  }

  private perform(effects: readonly Effect[]): void {
    for (const effect of effects) this.performOne(effect)
  }

  private performOne(effect: Effect): void {
    const { timers, validity, onNotice } = this.options
    switch (effect.type) {
      case 'call':
        this.calls.send(effect.request, effect.timeoutMs)
        return
      case 'arm':
        if (effect.at === undefined) timers.disarm(effect.timer)
        else timers.arm(effect.timer, effect.at, this.onTimer)
        return
      case 'watch':
        this.onHints((hints) => hints.watch(effect.topic))
        return
      case 'unwatch':
        this.onHints((hints) => hints.unwatch(effect.topic))
        return
      case 'deadline':
        validity.setDeadline(effect.at)
        return
      case 'elected':
        onNotice({ ...effect, cell: validity.begin(effect.term) })
        return
      case 'revoked':
        validity.end(effect.term)
        onNotice(effect)
        return
      case 'attempted':
      case 'complete':
      case 'members':
      case 'publish':
        onNotice(effect)
        return
      default:
        unreachable(effect)
    }
  }

  /** Hints are a help and no more: a backend whose hints throw is polled, and the failure reported. */
  private onHints(use: (hints: HintSubscription) => void): void {
    const { backend, onNotice } = this.options
    if (backend.hints === undefined) return
    try {
      this.hints ??= backend.hints((hint) => this.run({ type: 'hint', hint }))
      use(this.hints)
    } catch (cause) {
      const error = flattenError(cause)
      const call = 'hints'
      onNotice({
        type: 'publish',
        event: { type: 'BackendCallFailed', call, name: undefined, tookMs: 0, timedOut: false, error },
      })
    }
  }

  /** Nothing is sent or delivered any more, and what the backend made for itself is freed. Never rejects. */
  async shutDown(): Promise<void> {
    this.closed = true
    this.calls.close()
    // Async, so that one that throws has failed like one that rejects, and keeps nothing else from being closed.
    const closeHints = async () => this.hints?.close()
    const closeBackend = async () => this.options.backend.close()
    await Promise.allSettled([closeHints(), closeBackend()])
  }
}
