/** Watches promises that the library has given: each must settle within a bound, counted while its process runs. */
import type { Violations } from './laws.js'
import type { SimulatedProcess } from './process.js'

/** Rounding, drift, and timers that tick in whole ms, several in a row. */
const SLACK_MS = 10
const SLACK_FACTOR = 1.03

interface Watched {
  readonly what: string
  readonly process: SimulatedProcess
  readonly from: number
  readonly boundMs: number
}

export class PromiseWatch {
  readonly #violations: Violations
  readonly #pending = new Set<Watched>()

  constructor(violations: Violations) {
    this.#violations = violations
  }

  get pending(): number {
    return this.#pending.size
  }

  /** Passes the promise on. */
  watch<T>(process: SimulatedProcess, what: string, boundMs: number, promise: Promise<T>): Promise<T> {
    const watched = { what, process, from: process.ranMs, boundMs }
    this.#pending.add(watched)
    const settled = () => {
      this.#pending.delete(watched)
    }
    promise.then(settled, settled)
    return promise
  }

  check(): void {
    for (const watched of this.#pending) {
      const { process, what, from, boundMs } = watched
      if (process.isGone) {
        this.#pending.delete(watched)
        continue
      }
      const tookMs = process.ranMs - from
      if (tookMs <= boundMs * SLACK_FACTOR + SLACK_MS) continue
      this.#pending.delete(watched)
      this.#violations.add(
        'S10',
        `${what} on ${process.id} has not settled after ${Math.round(tookMs)} ms; its bound is ${Math.round(boundMs)} ms`,
      )
    }
  }
}
