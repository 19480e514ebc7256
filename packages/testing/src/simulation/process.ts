/** One simulated process: it runs, stands still, or is gone, and what reaches it meanwhile waits or is lost. */
import type { SessionId } from '@simba/core'
import { ProcessClock, type ProcessClockOptions } from './process-clock.js'
import type { Random } from './random.js'
import type { WorldTime } from './world-time.js'

type State =
  | { readonly kind: 'running' }
  | { readonly kind: 'standing'; readonly since: number; readonly inbox: (() => void)[] }
  | { readonly kind: 'gone' }

export class SimulatedProcess {
  readonly id: string
  readonly clock: ProcessClock
  /** In which session it last tried to acquire each name. */
  readonly acquiredIn: Map<string, SessionId> = new Map()
  /** Until when it has asked not to be elected, by name, in true time. */
  readonly cooldowns: Map<string, number> = new Map()
  readonly #time: WorldTime
  readonly #random: Random
  #state: State = { kind: 'running' }
  #stoodMs = 0

  constructor(id: string, time: WorldTime, random: Random, clock: ProcessClockOptions) {
    this.id = id
    this.#time = time
    this.#random = random
    this.clock = new ProcessClock(time, clock)
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running'
  }

  get isGone(): boolean {
    return this.#state.kind === 'gone'
  }

  /** For how long it has been running, in true time. */
  get ranMs(): number {
    const standing = this.#state.kind === 'standing' ? this.#time.now() - this.#state.since : 0
    return this.#time.now() - this.#stoodMs - standing
  }

  /** Something arrives from outside. */
  deliver(run: () => void): void {
    switch (this.#state.kind) {
      case 'running':
        run()
        return
      case 'standing':
        this.#state.inbox.push(run)
        return
      case 'gone':
        return
      default:
        unreachable(this.#state)
    }
  }

  /** Stands still until `goOn`; with `asleep` its machine does. Only what runs can be stopped. */
  stop(options: { readonly asleep: boolean }): boolean {
    if (this.#state.kind !== 'running') return false
    this.#state = { kind: 'standing', since: this.#time.now(), inbox: [] }
    if (options.asleep) this.clock.sleep()
    else this.clock.stop()
    return true
  }

  goOn(): void {
    const state = this.#state
    if (state.kind !== 'standing') return
    this.#stoodMs += this.#time.now() - state.since
    this.#state = { kind: 'running' }
    // Whether timers or messages come first depends on where in the event loop it stood.
    const timersFirst = this.#random.chance(0.5)
    if (timersFirst) this.clock.goOn()
    for (const run of state.inbox) this.#time.setTimer(() => this.deliver(run), 0)
    if (!timersFirst) this.clock.goOn()
  }

  /** It is gone for ever, as by SIGKILL. */
  die(): void {
    this.#state = { kind: 'gone' }
    this.clock.die()
  }

  /** For programs that run in it. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.setTimer(resolve, ms)
    })
  }
}

function unreachable(state: never): never {
  throw new Error(`Impossible state ${JSON.stringify(state)}`)
}
