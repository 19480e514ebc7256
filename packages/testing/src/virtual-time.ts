import { type CancelTimer, type Clock, ConfigError } from '@simba/core'
import { wheneverAtRest } from './drain.js'
import { Sleepers } from './sleepers.js'
import { TimerQueue } from './timer-queue.js'
import { type ClockOptions, VirtualClock } from './virtual-clock.js'
import { Watchdog } from './watchdog.js'

/** Options of {@link VirtualTime}. */
export interface VirtualTimeOptions {
  /** What `now()` says at the start, in ms. Default 0. */
  readonly startAt?: number
  /**
   * What {@link VirtualTime.wallNow} says at the start, in ms since the Unix epoch. Default
   * 2000-01-01T00:00:00Z.
   */
  readonly wallStartAt?: number
  /**
   * After how many ms of *real* time without any movement a wait on virtual time is reported; `false` for
   * never. Default 2000. The report comes half as much later at most.
   */
  readonly watchdogMs?: number | false
  /** Takes the report of a wait that cannot be made to fail. Default `console.warn`. */
  readonly warn?: (message: string) => void
}

/** More timers than this at one instant are taken for code that sets a timer without delay for ever. */
const maxTimersPerInstant = 1_000_000

/** How many waits a message names. */
const namedWaits = 5

/**
 * Time that only a test moves. Give it to `Simba` and to backends as their clock.
 *
 * Timers fire in the order of their due times, and of their setting where those are equal; after each of them
 * all pending promises settle before time goes on. Real I/O and other threads do not follow virtual time, and
 * are not waited for.
 *
 * A wait on time that nobody moves is reported instead of hanging, by a watch on real time:
 *
 * - a {@link sleep} that began while time stood still rejects with a message;
 * - other waits are told of by a warning, once per standstill: timers have nobody who could be told, and a
 *   sleep that began while time was moved is the loop of some code under test, which may well outlive its
 *   test;
 * - where another `VirtualTime` was made meanwhile, the test of this one is most probably over: its sleeps
 *   are warned of, and its timers are no news.
 *
 * Nothing tells a finished test from one that waits: call `dispose()` at its end, or declare the time with
 * `using`.
 *
 * @example
 * using time = new VirtualTime()
 * const backend = new MemoryLeaseBackend({ clock: time })
 * await time.advance(15_000)
 */
export class VirtualTime implements Clock {
  readonly #timers = new TimerQueue()
  readonly #sleepers = new Sleepers()
  readonly #jumpListeners = new Set<() => void>()
  readonly #startAt: number
  readonly #wallStartAt: number
  readonly #warn: (message: string) => void
  readonly #watchdog: Watchdog
  #now: number
  #moving = false
  /** Whether this standstill has been warned of. */
  #warned = false
  /** Settles when the last movement asked for is over: movements run one after another. */
  #lastMove: Promise<unknown> = Promise.resolve()

  constructor(options: VirtualTimeOptions = {}) {
    this.#startAt = finite('startAt', options.startAt ?? 0)
    this.#wallStartAt = finite('wallStartAt', options.wallStartAt ?? Date.UTC(2000, 0, 1))
    this.#now = this.#startAt
    this.#warn = options.warn ?? ((message) => console.warn(message))
    const watchdogMs = options.watchdogMs ?? 2000
    this.#watchdog = new Watchdog(watchdogMs === false ? false : nonNegative('watchdogMs', watchdogMs), {
      isWaiting: () => this.#timers.size > 0,
      report: (realMs, isLatest) => this.#reportStandstill(realMs, isLatest),
    })
  }

  now(): number {
    return this.#now
  }

  /** Wall-clock time in ms since the Unix epoch; moves with `now()`. */
  wallNow(): number {
    return this.#wallStartAt + (this.#now - this.#startAt)
  }

  /** @throws ConfigError if `delayMs` is no finite number. A negative one counts as 0. */
  setTimer(callback: () => void, delayMs: number): CancelTimer {
    const delay = Math.max(0, finite('delayMs', delayMs))
    const timer = this.#timers.add(this.#now + delay, this.#now, callback)
    this.#watchdog.watch()
    return () => this.#timers.remove(timer)
  }

  onJump(listener: () => void): () => void {
    // A function of its own, so that a listener given twice is told twice.
    const own = () => listener()
    this.#jumpListeners.add(own)
    return () => {
      this.#jumpListeners.delete(own)
    }
  }

  /** A clock of its own that follows this time, with drift if wanted: one for each process under test. */
  clock(options: ClockOptions = {}): VirtualClock {
    return new VirtualClock(this, options)
  }

  /**
   * Moves time by `ms`, firing every timer on the way, also those that are set on the way. Calls that overlap
   * run one after another.
   *
   * @throws what a timer's callback threw, once the whole way is done; an `AggregateError` if several did.
   */
  advance(ms: number): Promise<void> {
    const span = nonNegative('ms', ms)
    return this.#move(() => this.#run(this.#now + span, () => false))
  }

  /** Fires what is due already and lets all pending asynchronous work settle, while time stands still. */
  settle(): Promise<void> {
    return this.advance(0)
  }

  /**
   * Moves time until the promise settles, and no further; gives its value, or rejects with its reason.
   *
   * @param options.within how far time may move, in ms.
   * @throws Error if the promise is still pending after that; it names the timers that wait.
   */
  until<T>(promise: PromiseLike<T>, options: { readonly within: number }): Promise<T> {
    const within = nonNegative('within', options.within)
    let settled = false
    const settle = () => {
      settled = true
    }
    promise.then(settle, settle)
    return this.#move(async () => {
      const from = this.#now
      await this.#run(from + within, () => settled)
      if (settled) return promise
      throw new Error(
        `VirtualTime.until: the promise is still pending after ${within} ms of virtual time, from ${from} to ${this.#now} ms. ` +
          `${this.#describeWaits()} Give a larger { within }, or find what it waits for: ` +
          'real I/O and other threads do not follow virtual time.',
      )
    })
  }

  /**
   * The machine slept: `now()` moves at once and {@link onJump} listeners are told, but no timer fires before
   * the next movement.
   *
   * @param options.timers `'due'` (default): timers whose time has come fire then. `'delayed'`: timers have
   * not seen the jump and fire later by its length, as those of a Linux machine do.
   */
  jump(ms: number, options: { readonly timers?: 'due' | 'delayed' } = {}): void {
    this.#now += nonNegative('ms', ms)
    this.#warned = false
    this.#watchdog.restart()
    if (options.timers === 'delayed') this.#timers.shift(ms)
    for (const listener of [...this.#jumpListeners]) listener()
  }

  /**
   * Resolves once virtual time has moved by `ms`.
   *
   * @throws `signal.reason` once the signal aborts; Error if it began while time stood still and nobody moves
   * time for {@link VirtualTimeOptions.watchdogMs}.
   */
  sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const time = { now: this.#now, atRest: !this.#moving, setTimer: this.setTimer.bind(this) }
    const slept = this.#sleepers.sleep(time, nonNegative('ms', ms), options.signal)
    this.#watchdog.restart()
    return slept
  }

  /**
   * Ends the watch for waits that nobody ends. Timers stay as they are, and time can still be moved.
   * Idempotent.
   */
  dispose(): void {
    this.#watchdog.end()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  #move<T>(run: () => Promise<T>): Promise<T> {
    const moved = this.#lastMove.then(async () => {
      this.#moving = true
      try {
        return await run()
      } finally {
        this.#moving = false
        this.#warned = false
        this.#watchdog.restart()
      }
    })
    this.#lastMove = moved.catch(() => {})
    return moved
  }

  /** Fires timers up to `target`, each when all else rests, until `stop()` says so or none is left. */
  #run(target: number, stop: () => boolean): Promise<void> {
    const errors: unknown[] = []
    let firedAtThisInstant = 0
    return new Promise((resolve, reject) => {
      const finish = () => {
        if (errors.length === 0) resolve()
        else reject(errors.length === 1 ? errors[0] : new AggregateError(errors, 'Several timers threw.'))
        return false
      }
      wheneverAtRest(() => {
        if (stop()) return finish()
        const timer = this.#timers.first
        if (timer === undefined || timer.due > target) {
          this.#now = Math.max(this.#now, target)
          return finish()
        }
        firedAtThisInstant = timer.due > this.#now ? 1 : firedAtThisInstant + 1
        if (firedAtThisInstant > maxTimersPerInstant) {
          errors.push(endlessInstant(this.#now))
          return finish()
        }
        this.#now = Math.max(this.#now, timer.due)
        this.#timers.remove(timer)
        try {
          timer.callback()
        } catch (error) {
          errors.push(error)
        }
        return true
      })
    })
  }

  #reportStandstill(realMs: number, isLatest: boolean): void {
    if (this.#moving) return
    const message =
      `VirtualTime stands at ${this.#now} ms, and nobody has moved it for ${realMs} ms of real time. ` +
      `${this.#describeWaits()} Call advance(ms), or until(promise, { within }), to move it; dispose() when the test is over.`
    if (isLatest && this.#sleepers.giveUpThoseAtRest(new Error(message))) return
    if (this.#warned || !(isLatest || this.#sleepers.size > 0)) return
    this.#warned = true
    this.#warn(message)
  }

  #describeWaits(): string {
    if (this.#timers.size === 0) return 'No timer waits.'
    const sleeps = this.#sleepers.describe(namedWaits)
    const timers = this.#timers.earliest(namedWaits).map(({ due, setAt }) => `${due} ms (set at ${setAt} ms)`)
    const more = this.#timers.size - timers.length
    return (
      (sleeps.length > 0 ? `Waiting: ${sleeps.join(', ')}. ` : '') +
      `Timers due: ${timers.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`
    )
  }
}

function endlessInstant(now: number): Error {
  return new Error(
    `VirtualTime: more than ${maxTimersPerInstant} timers fired at ${now} ms, so that time cannot go on. ` +
      'Find the code that sets a timer without delay again and again.',
  )
}

function finite(name: string, value: number): number {
  if (Number.isFinite(value)) return value
  throw new ConfigError(`VirtualTime: ${name} is ${value}; give a finite number of ms.`)
}

function nonNegative(name: string, value: number): number {
  if (finite(name, value) >= 0) return value
  throw new ConfigError(`VirtualTime: ${name} is ${value}; time only goes forwards, give 0 ms or more.`)
}
