/** A clock that is moved by hand, with native timers that can be counted. */
import type { CancelTimer, Clock } from '../../src/runtime/clock.js'

/** More native timers than any test lets fire: a heap that comes here sets one after the other without time passing. */
const MAX_FIRED = 300_000

export class HandClock implements Clock {
  time = 0
  /** How many native timers were ever set, and how many have fired. */
  set = 0
  fired = 0
  private readonly natives = new Map<number, { readonly at: number; readonly callback: () => void }>()

  now(): number {
    return this.time
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    this.set += 1
    const id = this.set
    this.natives.set(id, { at: this.time + delayMs, callback })
    return () => void this.natives.delete(id)
  }

  /** How many native timers are pending. */
  get pending(): number {
    return this.natives.size
  }

  /** When the earliest of them is due. */
  get nextAt(): number {
    return Math.min(Infinity, ...[...this.natives.values()].map(({ at }) => at))
  }

  /** Lets time pass, each native timer firing when it is due. */
  advance(ms: number): void {
    const end = this.time + ms
    while (this.nextAt <= end) {
      this.time = Math.max(this.time, this.nextAt)
      this.fireNext()
    }
    this.time = end
  }

  /** Fires the earliest native timer now. */
  fireNext(): void {
    this.fired += 1
    if (this.fired > MAX_FIRED)
      throw new Error(`${MAX_FIRED} native timers have fired, and it is ${this.time} ms.`)
    let first: [number, { readonly at: number; readonly callback: () => void }] | undefined
    for (const native of this.natives) if (first === undefined || native[1].at < first[1].at) first = native
    if (first === undefined) throw new Error('No native timer is set.')
    this.natives.delete(first[0])
    first[1].callback()
  }
}
