/** The true time of a simulated world, which no process in it can read. It goes from one event to the next, when all else rests. */
import type { CancelTimer, Clock } from '@simba/core'
import { TimerQueue } from '../timer-queue.js'

/** Looks at the world between its events. */
export interface Watcher {
  /** After each event, once everything that follows from it at once has happened. */
  afterEvent(): void
  /** Before time moves on: nothing is left to happen at this instant. */
  beforeTimeMoves(): void
}

// Captured now, so that a test runner's fake timers do not stop it.
const realSetImmediate = setImmediate

/** A turn of the event loop is dear, so this many events share one. */
const EVENTS_PER_TURN = 64

/** More events than this at one instant are a loop without end. */
const MAX_EVENTS_PER_INSTANT = 100_000

export class WorldTime implements Clock {
  readonly #queue = new TimerQueue()
  #now = 0
  #eventsAtThisInstant = 0

  now(): number {
    return this.#now
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    const timer = this.#queue.add(this.#now + Math.max(0, delayMs), this.#now, callback)
    return () => this.#queue.remove(timer)
  }

  /**
   * Runs until the given time, or until `stop()` says so. Before each callback of an immediate Node runs all microtasks and ticks, so that
   * each event has been followed up before the next; nothing in a simulated world waits for anything else.
   */
  run(until: number, watcher: Watcher, stop: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let over = false
      const event = () => {
        if (over) return
        try {
          watcher.afterEvent()
          over = stop() || !this.#next(until, watcher)
          if (over) resolve()
        } catch (error) {
          over = true
          reject(error)
        }
      }
      const lastOfTurn = () => {
        event()
        if (!over) turn()
      }
      const turn = () => {
        for (let count = 1; count < EVENTS_PER_TURN; count++) realSetImmediate(event)
        realSetImmediate(lastOfTurn)
      }
      turn()
    })
  }

  /** Whether there was an event to happen. */
  #next(until: number, watcher: Watcher): boolean {
    let timer = this.#queue.first
    if (timer === undefined || timer.due > this.#now) {
      watcher.beforeTimeMoves()
      timer = this.#queue.first
    }
    if (timer === undefined || timer.due > until) {
      this.#now = Math.max(this.#now, until)
      return false
    }
    if (timer.due > this.#now) {
      this.#now = timer.due
      this.#eventsAtThisInstant = 0
    } else if (++this.#eventsAtThisInstant > MAX_EVENTS_PER_INSTANT) {
      throw new Error(
        `More than ${MAX_EVENTS_PER_INSTANT} events happened at ${this.#now} ms: a loop without end.`,
      )
    }
    this.#queue.remove(timer)
    timer.callback()
    return true
  }
}
