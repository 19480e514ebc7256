/** One pending timer. `index` is its place in the heap, or -1 once it has left it. */
export interface QueuedTimer {
  due: number
  readonly order: number
  readonly setAt: number
  readonly callback: () => void
  index: number
}

/**
 * Timers by due time, and by the order in which they were set where the times are equal.
 *
 * A binary heap whose entries know their places, so that a cancelled timer leaves at once: code that sets and
 * cancels a timeout per call must not fill the queue.
 */
export class TimerQueue {
  readonly #heap: QueuedTimer[] = []
  #nextOrder = 0

  get size(): number {
    return this.#heap.length
  }

  get first(): QueuedTimer | undefined {
    return this.#heap[0]
  }

  add(due: number, setAt: number, callback: () => void): QueuedTimer {
    const timer = { due, order: this.#nextOrder++, setAt, callback, index: this.#heap.length }
    this.#heap.push(timer)
    this.#rise(timer)
    return timer
  }

  /** Does nothing if the timer has already left the queue. */
  remove(timer: QueuedTimer): void {
    const place = timer.index
    if (place < 0) return
    timer.index = -1
    const last = this.#heap.pop()
    if (last === undefined || last === timer) return
    this.#put(last, place)
    this.#rise(last)
    this.#sink(last)
  }

  /** Moves every timer by the same span, which leaves their order as it is. */
  shift(ms: number): void {
    for (const timer of this.#heap) timer.due += ms
  }

  /** The first `count` timers in the order in which they would fire. */
  earliest(count: number): readonly QueuedTimer[] {
    return [...this.#heap].sort(byDue).slice(0, count)
  }

  #put(timer: QueuedTimer, place: number): void {
    this.#heap[place] = timer
    timer.index = place
  }

  #rise(timer: QueuedTimer): void {
    while (timer.index > 0) {
      const parent = this.#heap[(timer.index - 1) >> 1]
      if (parent === undefined || byDue(parent, timer) <= 0) return
      this.#swap(timer, parent)
    }
  }

  #sink(timer: QueuedTimer): void {
    for (;;) {
      const left = this.#heap[2 * timer.index + 1]
      const right = this.#heap[2 * timer.index + 2]
      const child = left !== undefined && right !== undefined && byDue(right, left) < 0 ? right : left
      if (child === undefined || byDue(timer, child) <= 0) return
      this.#swap(timer, child)
    }
  }

  #swap(a: QueuedTimer, b: QueuedTimer): void {
    const place = a.index
    this.#put(a, b.index)
    this.#put(b, place)
  }
}

function byDue(a: QueuedTimer, b: QueuedTimer): number {
  return a.due - b.due || a.order - b.order
}
