import { type CancelTimer, type Clock, ConfigError } from '@simba/core'
import { drain } from './drain.js'
import { type QueuedTimer, TimerQueue } from './timer-queue.js'
import { type ClockOptions, VirtualClock } from './virtual-clock.js'
import { Watchdog } from './watchdog.js'

/** Options of {@link VirtualTime}. */
export interface VirtualTimeOptions {
  /** What `now()` says at the start, in ms. Default 0. */
  readonly startAt?: number
  /** What {@link VirtualTime.wallNow} says at the start, in ms since the Unix epoch. Default 2000-01-01T00:00:00Z. */
  readonly wallStartAt?: number
  /**
   * After how many ms of *real* time without any movement of virtual time a wait on it is reported; `false` turns that off.
   * Default 2000.
   */
  readonly watchdogMs?: number | false
  /** Takes the report where there is nothing to reject. Default `console.warn`. */
  readonly warn?: (message: string) => void
}

/** A wait of user code: see {@link VirtualTime.sleep}. */
interface Sleeper {
  readonly ms: number
  readonly until: number
  /** Whether virtual time was at rest when the wait began: then somebody else has to move it. */
  readonly begunAtRest: boolean
  readonly reject: (error: Error) => void
}

/** Timers that fire at one instant; more are taken for a loop that sets a timer without delay for ever. */
const maxTimersPerInstant = 1_000_000

/**
 * Time that only a test moves. Give it to `Simba` and to backends as their clock.
 *
 * Timers fire in the order of their due times, and of their setting where those are equal; after each of them all pending promises settle
 * before time goes on. Work that waits for real I/O or for another thread is not waited for.
 *
 * A wait that nobody ends is reported after {@link VirtualTimeOptions.watchdogMs}: see {@link sleep}. `dispose()` ends that watch.
 *
 * @example
 * using time = new VirtualTime()
 * const simba = new Simba({ backend: new MemoryLeaseBackend({ clock: time }), clock: time })
 * await time.advance(15_000)
 */
export class VirtualTime implements Clock {
  readonly #timers = new TimerQueue()
  readonly #sleepers = new Set<Sleeper>()
  readonly #jumpListeners = new Set<() => void>()
  readonly #startAt: number
  readonly #wallStartAt: number
  readonly #watchdog: Watchdog
  #now: number
  #moving = false
  /** Whether this standstill has been warned of. */
  #warned = false
  /** Settles when the last movement that was asked for is over: movements run one after another. */
  #lastMove: Promise<unknown> = Promise.resolve()

  constructor(options: VirtualTimeOptions = {}) {
    this.#startAt = finite('startAt', options.startAt ?? 0)
    this.#wallStartAt = finite('wallStartAt', options.wallStartAt ?? Date.UTC(2000, 0, 1))
    this.#now = this.#startAt
    this.#watchdog = new Watchdog(options.watchdogMs ?? 2000, {
      isWaiting: () => this.#timers.size > 0,
      report: (realMs, current) => this.#reportStandstill(realMs, current, options.warn ?? console.warn),
    })
  }

  now(): number {
    return this.#now
  }

  /** Wall-clock time in ms since the Unix epoch; moves with `now()`. */
  wallNow(): number {
    return this.#wallStartAt + (this.#now - this.#startAt)
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    const delay = Math.max(0, finite('delayMs', delayMs))
    const timer = this.#timers.add(this.#now + delay, this.#now, callback)
    this.#watchdog.watch()
    return () => this.#timers.remove(timer)
  }

  onJump(listener: () => void): () => void {
    // A wrapper of its own, so that a listener given twice is told twice and ends twice.
    const own = () => listener()
    this.#jumpListeners.add(own)
    return () => {
      this.#jumpListeners.delete(own)
    }
  }

  /** A clock of its own on this time, with drift, for one of several processes under test. */
  clock(options: ClockOptions = {}): VirtualClock {
    return new VirtualClock(this, options)
  }

  /**
   * Moves time by `ms`, firing every timer on the way, also those that are set on the way.
   *
   * Calls that overlap run one after another.
   *
   * @throws what a timer's callback has thrown, after the whole way; an `AggregateError` if several have.
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
   * Moves time until the promise settles, and gives its value or rejects with its reason.
   *
   * @param options.within how far time may move at most, in ms.
   * @throws Error if the promise is still pending then: it names the timers that wait.
   */
  until<T>(promise: PromiseLike<T>, options: { readonly within: number }): Promise<T> {
    const within = nonNegative('within', options.within)
    const outcome = observe(promise)
    return this.#move(async () => {
      const from = this.#now
      await this.#run(from + within, () => outcome.settled)
      if (!outcome.settled) {
        throw new Error(
          `VirtualTime.until: the promise is still pending after ${this.#now - from} ms of virtual time, from ` +
            `${from} to ${this.#now} ms. ${this.#describeWaits()} Allow more with { within }, or find what it waits for: ` +
            'real I/O and other threads do not follow virtual time.',
        )
      }
      return promise
    })
  }

  /**
   * The machine slept: `now()` moves at once, and {@link onJump} listeners are told; no timer fires before the next `advance` or `settle`.
   *
   * @param options.timers `'due'` (default): timers whose time has come fire then. `'delayed'`: timers have not seen the jump, and fire later by
   * its length, as those of a Linux machine after its sleep.
   */
  jump(ms: number, options: { readonly timers?: 'due' | 'delayed' } = {}): void {
    const span = nonNegative('ms', ms)
    this.#watchdog.restart()
    this.#warned = false
    this.#now += span
    if (options.timers === 'delayed') this.#timers.shift(span)
    for (const listener of [...this.#jumpListeners]) listener()
  }

  /**
   * Resolves when virtual time has moved by `ms`.
   *
   * If it was called while time stood still, and nobody moves time for {@link VirtualTimeOptions.watchdogMs} of real time, it rejects with a message instead of
   * hanging. A wait that began while time was being moved (the loop of a worker under test, which may well outlive its test) is only warned of.
   *
   * @throws `signal.reason` once the signal aborts.
   */
  sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const span = nonNegative('ms', ms)
    const { signal } = options
    const promise = new Promise<void>((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const onAbort = () => sleeper.reject(signal?.reason)
      const end = () => {
        cancel()
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      }
      const sleeper: Sleeper = {
        ms: span,
        until: this.#now + span,
        begunAtRest: !this.#moving,
        reject: (error) => {
          end()
          reject(error)
        },
      }
      const cancel = this.setTimer(() => {
        end()
        resolve()
      }, span)
      this.#sleepers.add(sleeper)
      this.#watchdog.restart()
      signal?.addEventListener('abort', onAbort, { once: true })
    })
    // A sleep that nobody awaits must not fail the process when it is given up.
    promise.catch(() => {})
    return promise
  }

  /** Ends the watch for waits that nobody ends. Timers stay as they are, and time can still be moved. Idempotent. */
  dispose(): void {
    this.#watchdog.end()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  #move<T>(run: () => Promise<T>): Promise<T> {
    const moved = this.#lastMove.then(async () => {
      this.#moving = true
      this.#warned = false
      try {
        return await run()
      } finally {
        this.#moving = false
        this.#watchdog.restart()
      }
    })
    this.#lastMove = moved.catch(() => {})
    return moved
  }

  /** Fires timers up to `target`, draining before the first and after each, until `stop()` says so after a drain. */
  #run(target: number, stop: () => boolean): Promise<void> {
    const errors: unknown[] = []
    let firedHere = 0
    return new Promise((resolve, reject) => {
      const finish = () => {
        if (errors.length === 0) resolve()
        else reject(errors.length === 1 ? errors[0] : new AggregateError(errors, 'Several timers threw.'))
      }
      const next = () => {
        if (stop()) {
          finish()
          return
        }
        const timer = this.#timers.first
        if (timer === undefined || timer.due > target) {
          this.#now = Math.max(this.#now, target)
          finish()
          return
        }
        firedHere = timer.due > this.#now ? 0 : firedHere + 1
        if (firedHere > maxTimersPerInstant) {
          reject(
            new Error(
              `VirtualTime: more than ${maxTimersPerInstant} timers fired at ${this.#now} ms, so that ` +
                'time cannot move on. Find the code that sets a timer without delay again and again.',
            ),
          )
          return
        }
        this.#now = Math.max(this.#now, timer.due)
        this.#fire(timer, errors)
        drain(next)
      }
      drain(next)
    })
  }

  #fire(timer: QueuedTimer, errors: unknown[]): void {
    this.#timers.remove(timer)
    try {
      timer.callback()
    } catch (error) {
      errors.push(error)
    }
  }

  #reportStandstill(realMs: number, current: boolean, warn: (message: string) => void): void {
    if (this.#moving) return
    const message = `VirtualTime stands at ${this.#now} ms, and nobody has moved it for ${realMs} ms of real time. ${this.#describeWaits()} Call advance(ms) or until(promise, { within }) to move it, or dispose() when the test is over.`
    const atRest = current ? [...this.#sleepers].filter((sleeper) => sleeper.begunAtRest) : []
    for (const sleeper of atRest) sleeper.reject(new Error(message))
    if (atRest.length > 0 || this.#warned || !(current || this.#sleepers.size > 0)) return
    this.#warned = true
    warn(message)
  }

  #describeWaits(): string {
    if (this.#timers.size === 0) return 'No timer waits.'
    const shown = 5
    const sleeps = [...this.#sleepers]
      .slice(0, shown)
      .map((sleeper) => `sleep(${sleeper.ms}) until ${sleeper.until} ms`)
    const timers = this.#timers.earliest(shown).map((timer) => `${timer.due} ms (set at ${timer.setAt} ms)`)
    const rest = this.#timers.size > shown ? `, and ${this.#timers.size - shown} more` : ''
    return `${sleeps.length > 0 ? `Waiting: ${sleeps.join(', ')}. ` : ''}Timers due: ${timers.join(', ')}${rest}.`
  }
}

function observe(promise: PromiseLike<unknown>): { readonly settled: boolean } {
  const outcome = { settled: false }
  const settle = () => {
    outcome.settled = true
  }
  promise.then(settle, settle)
  return outcome
}

function finite(name: string, value: number): number {
  if (Number.isFinite(value)) return value
  throw new ConfigError(`VirtualTime: ${name} is ${value}; give a finite number of ms.`)
}

function nonNegative(name: string, value: number): number {
  if (finite(name, value) >= 0) return value
  throw new ConfigError(`VirtualTime: ${name} is ${value}; time moves forwards only, give 0 or more ms.`)
}
