/**
 * Looks at the database when something may have changed, only while something is watched.
 *
 * Every commit writes to the `-wal` file, so watching that file tells of other processes' commits within milliseconds. Some file
 * systems and containers do not report changes, and a process may run out of watches; so a slow poll stands behind it, and takes over
 * where watching fails. What this process commits itself is told by `poke`.
 *
 * After a look it rests, deaf to everything, and looks again: however busy the database is, looks take a small part of the time.
 */
import { type FSWatcher, watch } from 'node:fs'
import type { Cancel, Runtime } from '../runtime.js'

/**
 * Looks what is new. `asked`: something is. Otherwise it may find that nobody has committed since the last look; then it answers
 * `false`. Never throws.
 */
export type Look = (asked: boolean) => boolean

/** Where other processes' commits show: in a file, nowhere, or nobody knows yet. */
export type Traces = { readonly file: string } | 'none' | 'unknown'

const REST_MS = 20
/** A rest takes at least so many times as long as the look before it. */
const REST_FACTOR = 10
const POLL_BEHIND_WATCH_MS = 1000
const POLL_ALONE_MS = 200
/** So many changes one after another, of which watching told nothing, show that it is of no use. */
const DEAF_AFTER = 3

export class HintWatch {
  #state: 'stopped' | 'armed' | 'resting' = 'stopped'
  #asked = false
  #watcher: FSWatcher | undefined
  #missed = 0
  #cancelTimer: Cancel = () => {}

  constructor(
    private readonly traces: () => Traces,
    private readonly look: Look,
    private readonly runtime: Runtime,
  ) {}

  start(): void {
    if (this.#state !== 'stopped') return
    this.#missed = 0
    this.#arm()
  }

  stop(): void {
    this.#disarm()
    this.#state = 'stopped'
    this.#asked = false
  }

  /** Looks once what runs now is done; does nothing when stopped. */
  poke(): void {
    if (this.#state === 'stopped' || this.#asked) return
    this.#asked = true
    queueMicrotask(() => {
      if (this.#state === 'armed' && this.#asked) this.#lookOnce()
    })
  }

  /** Looks, and then rests if there was anything to see; answers whether there was. */
  #lookOnce(): boolean {
    const asked = this.#asked
    this.#asked = false
    const began = this.runtime.now()
    const seen = this.look(asked)
    // A listener may have ended it.
    if (seen && this.#state !== 'stopped') this.#rest(REST_FACTOR * (this.runtime.now() - began))
    return seen
  }

  #rest(ms: number): void {
    this.#disarm()
    this.#state = 'resting'
    this.#cancelTimer = this.runtime.setIdleTimer(
      () => {
        // In this order: what is committed after the look must be noticed.
        this.#arm()
        this.#lookOnce()
      },
      Math.max(REST_MS, ms),
    )
  }

  #arm(): void {
    this.#state = 'armed'
    const traces = this.traces()
    if (traces === 'none') return
    if (traces !== 'unknown' && this.#missed < DEAF_AFTER) this.#watcher ??= this.#watch(traces.file)
    const pollMs = this.#watcher === undefined ? POLL_ALONE_MS : POLL_BEHIND_WATCH_MS
    this.#cancelTimer = this.runtime.setIdleTimer(() => this.#poll(), pollMs)
  }

  #disarm(): void {
    this.#cancelTimer()
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #poll(): void {
    const watched = this.#watcher !== undefined
    if (!this.#lookOnce()) this.#arm()
    else if (watched) this.#missed++
  }

  /** `undefined` if the file cannot be watched now. */
  #watch(file: string): FSWatcher | undefined {
    try {
      const watcher = watch(file, { persistent: false }, () => {
        if (watcher !== this.#watcher) return
        this.#missed = 0
        // Nothing to see: what was written was no commit, or one of this process. Rest all the same, there may be many.
        if (!this.#lookOnce() && this.#state === 'armed') this.#rest(0)
      })
      watcher.on('error', () => {
        watcher.close()
        if (watcher === this.#watcher) this.#watcher = undefined
      })
      return watcher
    } catch {
      return undefined
    }
  }
}
