/** All timers of a client: one heap of times, and one native timer for the earliest of them, whatever their number. */
import type { CancelTimer, Clock } from './clock.js'

/** Identifies a timer within its heap. */
export type HeapKey = string | number | symbol

interface Entry {
  readonly key: HeapKey
  readonly at: number
  /** Breaks ties: what was armed first fires first. */
  readonly order: number
  readonly fire: (key: HeapKey) => void
  index: number
}

export class TimerHeap {
  private readonly entries: Entry[] = []
  private readonly byKey = new Map<HeapKey, Entry>()
  private order = 0
  private native: { readonly at: number; readonly cancel: CancelTimer } | undefined
  private firing = false
  /** When the timer was due that is firing now. */
  private firingAt = Infinity

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.entries.length
  }

  /** Arms the timer of this key, instead of an earlier one of the same key. */
  arm<Key extends HeapKey>(key: Key, at: number, fire: (key: Key) => void): void {
    this.remove(key)
    // An entry calls back with its own key and no other, so that one function can serve many timers.
    const own = fire as (key: HeapKey) => void
    const entry = { key, at, order: this.order++, fire: own, index: this.entries.length }
    this.byKey.set(key, entry)
    this.entries.push(entry)
    this.rise(entry)
    this.setNative()
  }

  disarm(key: HeapKey): void {
    if (this.remove(key)) this.setNative()
  }

  /** By how long the earliest timer is overdue, the one that is firing included; not above 0 if none is. */
  lateness(now: number): number {
    return now - Math.min(this.firingAt, this.entries[0]?.at ?? Infinity)
  }

  /** Drops all timers. */
  clear(): void {
    this.entries.length = 0
    this.byKey.clear()
    this.setNative()
  }

  /** The clock jumped: what has become due fires in the next timers phase. */
  recheck(): void {
    this.native?.cancel()
    this.native = undefined
    this.setNative()
  }

  /** Fires what is due, in order; what that arms waits for the next native timer, so that the event loop gets its turn. */
  private fireDue(): void {
    this.native = undefined
    const now = this.clock.now()
    const last = this.order
    this.firing = true
    try {
      for (let first = this.entries[0]; first !== undefined; first = this.entries[0]) {
        if (first.at > now || first.order >= last) break
        this.remove(first.key)
        this.firingAt = first.at
        first.fire(first.key)
      }
    } finally {
      this.firing = false
      this.firingAt = Infinity
      this.setNative()
    }
  }

  private setNative(): void {
    if (this.firing) return
    const first = this.entries[0]
    // A native timer that is too early is left to fire for nothing: cheaper than setting it anew each time.
    if (this.native !== undefined && first !== undefined && this.native.at <= first.at) return
    this.native?.cancel()
    this.native = undefined
    if (first === undefined) return
    const delayMs = Math.max(0, first.at - this.clock.now())
    // Reading the clock may have told of a jump, and so have come here already.
    if (this.native !== undefined) return
    this.native = { at: first.at, cancel: this.clock.setTimer(() => this.fireDue(), delayMs) }
  }

  private remove(key: HeapKey): boolean {
    const entry = this.byKey.get(key)
    if (entry === undefined) return false
    this.byKey.delete(key)
    const last = this.entries.pop()
    if (last !== undefined && last !== entry) {
      last.index = entry.index
      this.entries[last.index] = last
      this.rise(last)
      this.sink(last)
    }
    return true
  }

  private rise(entry: Entry): void {
    while (entry.index > 0) {
      const parent = this.entries[(entry.index - 1) >> 1]
      if (parent === undefined || !before(entry, parent)) return
      this.swap(entry, parent)
    }
  }

  private sink(entry: Entry): void {
    for (;;) {
      const left = this.entries[2 * entry.index + 1]
      const right = this.entries[2 * entry.index + 2]
      const child = right !== undefined && left !== undefined && before(right, left) ? right : left
      if (child === undefined || !before(child, entry)) return
      this.swap(entry, child)
    }
  }

  private swap(a: Entry, b: Entry): void {
    const { index } = a
    a.index = b.index
    b.index = index
    this.entries[a.index] = a
    this.entries[b.index] = b
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
