import { BackendError, type CallOptions, type CancelTimer, type Clock, type SessionId } from '@simba/core'
import { planOf } from './fault-plan.js'
import { Faults, type FaultTarget } from './faults.js'
import { MemoryHints } from './memory-hints.js'
import { MemoryState } from './memory-state.js'

/**
 * The state behind all connections of one memory backend, and the way of each call to it and back, with all
 * that can go wrong on it.
 */
export class MemoryServer {
  readonly clock: Clock
  readonly faults: Faults = new Faults()
  readonly hints: MemoryHints
  readonly state: MemoryState
  readonly #random: () => number
  /** Rejects each call that is not settled for its caller yet. */
  readonly #pending = new Set<(error: unknown) => void>()
  /** Counts restarts: what was on its way before one never arrives. */
  #epoch = 0
  /** What arrived while the backend was frozen, in order; `undefined` while it is not. */
  #frozen: (() => void)[] | undefined

  constructor(clock: Clock, random: () => number) {
    this.clock = clock
    this.#random = random
    this.hints = new MemoryHints(this.faults, clock)
    this.state = new MemoryState((hint) => this.hints.publish(hint))
  }

  /** Brings a call to the state and its result back. It takes effect when `apply` runs, or never. */
  call<T>(target: FaultTarget, { signal }: CallOptions, apply: () => T): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const faults = this.faults.meet(target)
    if (faults.length === 0 && this.#frozen === undefined) return Promise.resolve(apply())

    const plan = planOf(faults, target)
    return new Promise<T>((resolve, reject) => {
      const recalls: CancelTimer[] = []
      const settle = () => {
        this.#pending.delete(fail)
        signal.removeEventListener('abort', onAbort)
      }
      const fail = (error: unknown) => {
        settle()
        reject(error)
      }
      const onAbort = () => {
        if (plan.recall) for (const recall of recalls) recall()
        fail(signal.reason)
      }
      const reply = (answer: () => void) => {
        if (plan.loseReply) return
        this.#travel(plan.replyMs, () => {
          settle()
          answer()
        })
      }
      const arrive = () => {
        const { before, after } = plan
        if (before !== undefined) {
          reply(() => reject(before))
          return
        }
        const result = apply()
        reply(() => (after === undefined ? resolve(result) : reject(after)))
      }
      this.#pending.add(fail)
      signal.addEventListener('abort', onAbort, { once: true })
      if (plan.loseRequest) return
      recalls.push(this.#travel(plan.requestMs, () => this.#enter(arrive)))
      for (const ms of plan.repeatMs)
        recalls.push(this.#travel(plan.requestMs + ms, () => this.#enter(apply)))
    })
  }

  /** 128 random bits as 32 hex digits. */
  newSessionId(): SessionId {
    let id = ''
    for (let word = 0; word < 4; word++) {
      id += Math.floor(this.#random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0')
    }
    return id
  }

  freeze(): void {
    this.#frozen ??= []
  }

  thaw(): void {
    const arrived = this.#frozen ?? []
    this.#frozen = undefined
    for (const arrive of arrived) arrive()
  }

  restart(): void {
    this.#epoch++
    this.#frozen = undefined
    this.hints.dropPending()
    const cut = new BackendError(
      'Memory backend: it restarted before this call was answered. Repeat the call.',
    )
    for (const fail of [...this.#pending]) fail(cut)
  }

  #enter(arrive: () => void): void {
    if (this.#frozen === undefined) arrive()
    else this.#frozen.push(arrive)
  }

  /** Runs `then` after `ms`, unless the backend restarts meanwhile. */
  #travel(ms: number, then: () => void): CancelTimer {
    if (ms === 0) {
      then()
      return () => {}
    }
    const epoch = this.#epoch
    return this.clock.setTimer(() => {
      if (epoch === this.#epoch) then()
    }, ms)
  }
}
