import { type CancelTimer, type Clock, ConfigError } from '@simba/core'

/** Options of {@link VirtualTime.clock}. */
export interface ClockOptions {
  /** How many ms this clock counts for each ms of virtual time: 1.01 runs 1 % fast. Default 1. */
  readonly rate?: number
  /** How far this clock is ahead of virtual time when it is made, in ms. Default 0. */
  readonly offset?: number
}

/** The clock of one process under test: it may drift, jump on its own, and be paused with its process. */
export class VirtualClock implements Clock {
  readonly rate: number
  readonly #time: Clock
  readonly #madeAt: number
  readonly #jumpListeners = new Set<() => void>()
  #offset: number
  /**
   * What sets the timers anew whose time came while the clock was paused, in their order; `undefined` while
   * it runs.
   */
  #held: Set<() => void> | undefined

  constructor(time: Clock, options: ClockOptions) {
    const { rate = 1, offset = 0 } = options
    if (!(rate > 0 && rate < Infinity))
      throw new ConfigError(`VirtualTime.clock: rate is ${rate}; give a number above 0.`)
    if (!Number.isFinite(offset))
      throw new ConfigError(`VirtualTime.clock: offset is ${offset}; give a finite number of ms.`)
    this.rate = rate
    this.#time = time
    this.#madeAt = time.now()
    this.#offset = offset
  }

  now(): number {
    return this.#at(this.#time.now())
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    const startedAt = this.#time.now()
    const due = this.#at(startedAt) + Math.max(0, delayMs)
    let delay = Math.max(0, delayMs) / this.rate
    // Rounding must not let a timer fire a hair before its time on this clock.
    for (let ulps = 1; this.#at(startedAt + delay) < due; ulps *= 2) {
      delay += ulps * Number.EPSILON * Math.max(1, startedAt + delay)
    }
    const fire = () => {
      if (this.#held === undefined) callback()
      else this.#held.add(fireSoon)
    }
    const fireSoon = () => {
      cancel = this.#time.setTimer(fire, 0)
    }
    let cancel = this.#time.setTimer(fire, delay)
    return () => {
      cancel()
      this.#held?.delete(fireSoon)
    }
  }

  onJump(listener: () => void): () => void {
    const own = () => listener()
    this.#jumpListeners.add(own)
    const off = this.#time.onJump?.(own)
    return () => {
      this.#jumpListeners.delete(own)
      off?.()
    }
  }

  /**
   * This clock alone jumps, by a negative span too: timers already set do not see it, and fire late (or
   * early) on this clock. {@link onJump} listeners are told.
   */
  jump(ms: number): void {
    if (!Number.isFinite(ms)) throw new ConfigError(`VirtualClock.jump: ms is ${ms}; give a finite number.`)
    this.#offset += ms
    for (const listener of [...this.#jumpListeners]) listener()
  }

  /** The process stands still: `now()` goes on, but no timer fires before {@link resume}. */
  pause(): void {
    this.#held ??= new Set()
  }

  /**
   * The process goes on: the timers that came due meanwhile fire at the next movement of virtual time, in
   * their order.
   */
  resume(): void {
    const held = this.#held
    this.#held = undefined
    for (const fireSoon of held ?? []) fireSoon()
  }

  #at(time: number): number {
    return this.#madeAt + (time - this.#madeAt) * this.rate + this.#offset
  }
}
