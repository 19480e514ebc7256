/**
 * Looks at the database when something may have changed, only while something is watched.
 *
 * Every commit writes to the `-wal` file, so watching that file tells of other processes' commits. It does so early: the commit can be
 * seen only once the disk has it. So after a change the database is looked at a few times, at growing intervals, until there is
 * something to see.
 *
 * Some file systems and containers do not report changes, and a process may run out of watches. So a slow poll stands behind all that,
 * and takes over where watching fails. What this process commits itself is told by `poke`.
 *
 * Once a look has found something, it rests: however busy the database is, looks take a small part of the time.
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

/** The file has changed; when to look, each in ms after the one before. */
const LOOKS_MS = [2, 6, 18, 54, 162, 486]
/** It may have been this process itself that wrote: look less often. */
const LOOKS_AFTER_OWN_MS = LOOKS_MS.slice(0, 3)
const REST_MS = 20
/** A rest takes at least so many times as long as the look before it. */
const REST_FACTOR = 10
const POLL_BEHIND_WATCH_MS = 1000
const POLL_ALONE_MS = 200
/** So many changes one after another, of which watching told nothing, show that it is of no use. */
const DEAF_AFTER = 3
/** So many changes between two looks are too many to hear of. */
const STORM = 100

/**
 * - `idle`: waits for a change of the file, or for the next poll.
 * - `settling`: the file has changed; looks until that can be seen.
 * - `resting`: has seen something.
 */
type State = 'stopped' | 'idle' | 'settling' | 'resting'

export class HintWatch {
  #state: State = 'stopped'
  /** Somebody asked for a look. */
  #asked = false
  /** How often the file has changed since the last look, as far as that was watched. */
  #changes = 0
  /** This process has written since the file was last seen to change. */
  #wrote = false
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
    this.#idle()
  }

  stop(): void {
    this.#state = 'stopped'
    this.#asked = false
    this.#wrote = false
    this.#cancelTimer()
    this.#unwatch()
  }

  /** Looks once what runs now is done, or at the end of a rest. Does nothing when stopped. */
  poke(): void {
    if (this.#state === 'stopped' || this.#asked) return
    this.#asked = true
    queueMicrotask(() => {
      if (!this.#asked || this.#state === 'stopped' || this.#state === 'resting') return
      if (!this.#lookNow()) this.#idle()
    })
  }

  /** To be told of each commit of this process: the next change of the file is probably that. */
  wrote(): void {
    this.#wrote = true
  }

  /** Answers whether there was something to see. */
  #lookNow(): boolean {
    // First: what is committed after the look must be noticed.
    this.#watchAgain()
    // What was seen may be the commit before the one that changed the file: that one is still to come.
    const more = this.#state === 'settling' && this.#changes > 0
    this.#changes = 0
    const asked = this.#asked
    this.#asked = false
    const began = this.runtime.now()
    const seen = this.look(asked)
    // A listener may have stopped it.
    if (seen && this.#state !== 'stopped') this.#rest(more, REST_FACTOR * (this.runtime.now() - began))
    return seen
  }

  #idle(): void {
    this.#state = 'idle'
    this.#watchAgain()
    if (this.traces() === 'none') return
    this.#after(this.#watcher === undefined ? POLL_ALONE_MS : POLL_BEHIND_WATCH_MS, () => {
      const watched = this.#watcher !== undefined
      if (!this.#lookNow()) this.#idle()
      else if (watched) this.#missed++
    })
  }

  #settle([delayMs, ...later]: readonly number[]): void {
    if (delayMs === undefined) {
      this.#idle()
      return
    }
    this.#state = 'settling'
    this.#after(delayMs, () => {
      if (!this.#lookNow()) this.#settle(later)
    })
  }

  #rest(more: boolean, ms: number): void {
    this.#state = 'resting'
    this.#after(Math.max(REST_MS, ms), () => {
      const stirred = more || this.#changes > 0
      if (this.#lookNow()) return
      if (stirred) this.#settle(LOOKS_MS)
      else this.#idle()
    })
  }

  #after(ms: number, then: () => void): void {
    this.#cancelTimer()
    this.#cancelTimer = this.runtime.setIdleTimer(then, ms)
  }

  #watchAgain(): void {
    if (this.#watcher !== undefined || this.#missed >= DEAF_AFTER) return
    const traces = this.traces()
    if (typeof traces === 'object') this.#watcher = this.#watch(traces.file)
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  /** `undefined` if the file cannot be watched now. */
  #watch(file: string): FSWatcher | undefined {
    try {
      const watcher = watch(file, { persistent: false }, (event) => {
        if (watcher === this.#watcher) this.#onChange(event)
      })
      watcher.on('error', () => {
        if (watcher === this.#watcher) this.#unwatch()
      })
      return watcher
    } catch {
      return undefined
    }
  }

  #onChange(event: 'change' | 'rename'): void {
    this.#missed = 0
    this.#changes++
    // Deleted or replaced, or too busy: until the next look, it is enough to know that it has changed.
    if (event === 'rename' || this.#changes > STORM) this.#unwatch()
    if (this.#state !== 'idle') return
    // The changes that begin it are not to be taken for those of the commit after.
    this.#changes = 0
    this.#settle(this.#wrote ? LOOKS_AFTER_OWN_MS : LOOKS_MS)
    this.#wrote = false
  }
}
