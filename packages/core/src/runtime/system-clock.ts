/**
 * The clock of a real process. Linux's monotonic clock stands still while the machine is suspended, so a laptop or virtual machine that
 * slept past its lease would wake up believing itself leader. So each reading holds the wall clock against the monotonic one; when they
 * part, a clock that counts since boot tells whether the machine slept, and the time slept is added (ADR 0004).
 */
import { uptime } from 'node:os'
import type { CancelTimer, Clock } from './clock.js'

/** Where a {@link SystemClock} reads from; injected in tests. All in milliseconds. */
export interface TimeSources {
  /** Monotonic; may stand still while the machine sleeps. The same for all threads of the process. */
  monotonic(): number
  /** The wall clock; may be set at any time. */
  wall(): number
  /** Since boot, with the time slept; may be coarse. */
  boot(): number
  setTimer(callback: () => void, delayMs: number): CancelTimer
}

/** How far the wall clock may part from the monotonic one before the boot clock is asked; also the shortest sleep that counts. */
const SUSPICIOUS_MS = 40

/** Node's timers take at most 2^31 - 1 ms; a longer delay is waited for in parts. */
const MAX_DELAY_MS = 2 ** 31 - 1

export const systemSources: TimeSources = {
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1e3 + nanoseconds / 1e6
  },
  wall: () => Date.now(),
  boot: () => uptime() * 1e3,
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, Math.ceil(Math.min(delayMs, MAX_DELAY_MS)))
    return () => clearTimeout(timer)
  },
}

export class SystemClock implements Clock {
  private sleptMs = 0
  private wallOffset: number
  private bootOffset: number
  private readonly listeners = new Set<() => void>()

  constructor(private readonly sources: TimeSources = systemSources) {
    const monotonic = sources.monotonic()
    this.wallOffset = sources.wall() - monotonic
    this.bootOffset = sources.boot() - monotonic
  }

  now(): number {
    const monotonic = this.sources.monotonic()
    const parted = this.sources.wall() - monotonic - this.wallOffset
    if (parted > SUSPICIOUS_MS || parted < -SUSPICIOUS_MS) this.askBootClock(monotonic)
    return monotonic + this.sleptMs
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    return this.sources.setTimer(callback, delayMs)
  }

  onJump(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private askBootClock(monotonic: number): void {
    this.wallOffset = this.sources.wall() - monotonic
    const bootOffset = this.sources.boot() - monotonic
    const slept = bootOffset - this.bootOffset
    // A wall clock that was set, or is slewed, leaves the boot clock alone.
    if (slept < SUSPICIOUS_MS) return
    this.bootOffset = bootOffset
    this.sleptMs += slept
    for (const listener of this.listeners) listener()
  }
}
