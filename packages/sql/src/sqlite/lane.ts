/**
 * Takes attempts one after another, in the order in which they came, and repeats the first until it succeeds or runs out of time.
 *
 * - Nothing waits inside an attempt: between two, the event loop has a turn.
 * - Pauses are short, random and do not grow. With growing ones the process that just had the lock has it again before the others have
 *   looked, and they starve.
 * - Only the first in line is attempted, however many wait: they would be in each other's way only.
 */
import type { CallOptions } from '@simba/core'
import type { Runtime } from '../runtime.js'
import { OutOfTime } from '../trouble.js'

/** A pause takes this long, and up to twice as much more. Node's timers count whole milliseconds. */
const PAUSE_MS = 1

interface Entry {
  /** Settles the call if it succeeds; throws otherwise. */
  readonly attempt: () => void
  readonly fail: (error: unknown) => void
  readonly call: CallOptions
  readonly since: number
  /** Ends what was begun when the entry had to wait. */
  stopWaiting: () => void
}

export class Lane {
  readonly #queue = new Set<Entry>()
  /** Since an attempt was made, others have not had a turn yet; or the pause before the next. */
  #resting = false
  /** Why the first in line did not succeed so far. */
  #obstacle: unknown

  constructor(
    private readonly runtime: Runtime,
    private readonly isRetryable: (error: unknown) => boolean,
  ) {}

  /** Settles as the attempt does, or with an {@link OutOfTime}, or with the signal's reason; it is not attempted after that. */
  run<T>(attempt: () => T, call: CallOptions): Promise<T> {
    const { signal, timeoutMs } = call
    if (signal.aborted) return Promise.reject(signal.reason)
    return new Promise<T>((resolve, reject) => {
      const entry: Entry = {
        attempt: () => resolve(attempt()),
        fail: reject,
        call,
        since: this.runtime.now(),
        stopWaiting: () => {},
      }
      this.#queue.add(entry)
      if (!this.#resting) this.#next()
      if (!this.#queue.has(entry)) return
      const giveUp = (error: unknown) => {
        this.#remove(entry)
        reject(error)
      }
      const onAbort = () => giveUp(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      const cancel = this.runtime.setTimer(
        () => giveUp(new OutOfTime(this.runtime.now() - entry.since, this.#obstacle)),
        timeoutMs,
      )
      entry.stopWaiting = () => {
        signal.removeEventListener('abort', onAbort)
        cancel()
      }
    })
  }

  #next(): void {
    const [entry] = this.#queue
    if (entry === undefined) return
    try {
      entry.attempt()
    } catch (error) {
      if (this.isRetryable(error)) {
        this.#obstacle = error
        this.#rest((then) => this.runtime.setTimer(then, PAUSE_MS * (1 + 2 * this.runtime.random())))
        return
      }
      entry.fail(error)
    }
    this.#obstacle = undefined
    this.#remove(entry)
    this.#rest((then) => this.runtime.nextTurn(then))
  }

  #rest(wait: (then: () => void) => void): void {
    this.#resting = true
    wait(() => {
      this.#resting = false
      this.#next()
    })
  }

  #remove(entry: Entry): void {
    entry.stopWaiting()
    this.#queue.delete(entry)
  }
}
