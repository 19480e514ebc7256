/**
 * The clocks and timers of one simulated process, as an operating system gives them: they drift, the process may be stopped, and the
 * machine may sleep. The real `SystemClock` reads them.
 */
import { type CancelTimer, SystemClock, type TimeSources } from '@simba/core'
import type { WorldTime } from './world-time.js'

/** The clock that counts since boot ticks this coarsely on Linux. */
const BOOT_TICK_MS = 10

interface Pending {
  /** On the monotonic clock. */
  readonly due: number
  readonly callback: () => void
  cancel: CancelTimer
}

export interface ProcessClockOptions {
  /** Ms that this machine's clocks count for each ms of true time. */
  readonly rate: number
  readonly offsetMs: number
  /** Whether the machine's clocks tell that it slept. Without that the library cannot know. */
  readonly noticesSleep: boolean
}

export class ProcessClock implements TimeSources {
  readonly clock: SystemClock
  readonly #time: WorldTime
  readonly #options: ProcessClockOptions
  readonly #pending = new Set<Pending>()
  #wallStepMs = 0
  /** True time that the machine has slept. */
  #sleptMs = 0
  #sleepsSince: number | undefined
  /** What came due while the process stood still. */
  #held: Pending[] | undefined
  #dead = false

  constructor(time: WorldTime, options: ProcessClockOptions) {
    this.#time = time
    this.#options = options
    this.clock = new SystemClock(this)
  }

  get rate(): number {
    return this.#options.rate
  }

  monotonic(): number {
    const slept = this.#sleptMs + (this.#sleepsSince === undefined ? 0 : this.#time.now() - this.#sleepsSince)
    return this.#options.offsetMs + (this.#time.now() - slept) * this.rate
  }

  wall(): number {
    if (!this.#options.noticesSleep) return this.monotonic() + this.#wallStepMs
    return this.#options.offsetMs + this.#time.now() * this.rate + this.#wallStepMs
  }

  boot(): number {
    const exact = this.#options.noticesSleep ? this.#time.now() * this.rate : this.monotonic()
    return Math.floor(exact / BOOT_TICK_MS) * BOOT_TICK_MS
  }

  /** Fires at the first whole ms at which the time is over, as Node's timers do. */
  setTimer(callback: () => void, delayMs: number): CancelTimer {
    if (this.#dead) return () => {}
    const timer: Pending = {
      due: this.monotonic() + Math.ceil(Math.max(delayMs, 1)),
      callback,
      cancel: () => {},
    }
    this.#pending.add(timer)
    this.#schedule(timer)
    return () => {
      timer.cancel()
      this.#pending.delete(timer)
    }
  }

  /** How far its time may be wrong: how long it slept is known to a tick of the boot clock only. */
  get errorMs(): number {
    return this.#sleptMs > 0 ? BOOT_TICK_MS : 0
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#pending.size
  }

  /** The process stands still (SIGSTOP, or a busy loop): time goes on, no timer fires. */
  stop(): void {
    this.#held ??= []
  }

  /** The machine sleeps: its monotonic clock stands still, and with it all timers. */
  sleep(): void {
    if (this.#sleepsSince !== undefined) return
    this.stop()
    this.#sleepsSince = this.#time.now()
    for (const timer of this.#pending) timer.cancel()
  }

  /** The process goes on. Timers that came due fire one after another. */
  goOn(): void {
    const held = this.#held ?? []
    this.#held = undefined
    if (this.#sleepsSince !== undefined) {
      this.#sleptMs += this.#time.now() - this.#sleepsSince
      this.#sleepsSince = undefined
      for (const timer of this.#pending) this.#schedule(timer)
      return
    }
    for (const timer of held) if (this.#pending.has(timer)) this.#schedule(timer)
  }

  /** The wall clock is set; on a machine that sleeps, nobody can. */
  stepWall(ms: number): void {
    if (this.#sleepsSince !== undefined) return
    this.#wallStepMs += ms
  }

  /** The process is gone. */
  die(): void {
    this.#dead = true
    for (const timer of this.#pending) timer.cancel()
    this.#pending.clear()
  }

  #schedule(timer: Pending): void {
    if (this.#sleepsSince !== undefined) return
    const fire = () => {
      if (this.#held !== undefined) {
        this.#held.push(timer)
        return
      }
      this.#pending.delete(timer)
      timer.callback()
    }
    timer.cancel = this.#time.setTimer(fire, (timer.due - this.monotonic()) / this.rate)
  }
}
