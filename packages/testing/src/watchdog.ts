/**
 * Notices that a test waits on virtual time which nobody moves. This is the one place of the package with a
 * real timer.
 *
 * It looks twice per period and reports at the third look in a row that saw no movement: after one period to
 * one and a half. A process that was itself held up (by a debugger, by a busy machine) so gets half a period
 * to go on. Its timer does not keep the process alive.
 *
 * A finished test may leave timers behind, and nothing tells it from one that waits. Therefore the report
 * says whether its time is the one made last in this process: of an earlier one, the test is most probably
 * over.
 */

// Captured now, so that a test runner's fake timers do not stop them.
const realSetTimeout = setTimeout
const realClearTimeout = clearTimeout

/** How many were made in this process. */
let made = 0

export interface Watched {
  /** Whether anything waits for virtual time. */
  readonly isWaiting: () => boolean
  /**
   * Called after each period without movement in which a wait was begun. `isLatest`: no other virtual time
   * was made after this one.
   */
  readonly report: (realMs: number, isLatest: boolean) => void
}

export class Watchdog {
  readonly #periodMs: number | false
  readonly #watched: Watched
  readonly #serial = ++made
  #timer: NodeJS.Timeout | undefined
  #quietLooks = 0
  #ended = false

  constructor(periodMs: number | false, watched: Watched) {
    this.#periodMs = periodMs
    this.#watched = watched
  }

  /** Something waits from now on. */
  watch(): void {
    if (this.#timer !== undefined || this.#ended || this.#periodMs === false) return
    this.#quietLooks = 0
    this.#lookAgain(this.#periodMs)
  }

  /** Virtual time moved, or a new wait began: the period starts anew. */
  restart(): void {
    this.#quietLooks = 0
    if (this.#watched.isWaiting()) this.watch()
  }

  end(): void {
    this.#ended = true
    realClearTimeout(this.#timer)
    this.#timer = undefined
  }

  #lookAgain(periodMs: number): void {
    this.#timer = realSetTimeout(() => {
      this.#timer = undefined
      if (!this.#watched.isWaiting()) return
      this.#quietLooks++
      if (this.#quietLooks < 3) this.#lookAgain(periodMs)
      else this.#watched.report(periodMs, this.#serial === made)
    }, periodMs / 2).unref()
  }
}
