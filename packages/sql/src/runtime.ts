/** The one place where time and entropy enter this package. */
import { randomBytes } from 'node:crypto'

/** Takes a timer or a turn back; does nothing once it has fired. */
export type Cancel = () => void

/** Where the package reads time and entropy from; injected in tests. */
export interface Runtime {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** At least 0, less than 1. */
  random(): number
  /** 128 random bits as 32 lowercase hex digits. */
  newSessionId(): string
  /** For what a caller waits for: keeps the process alive. */
  setTimer(callback: () => void, delayMs: number): Cancel
  /** For what nobody waits for: lets the process exit. */
  setIdleTimer(callback: () => void, delayMs: number): Cancel
  /** Tells the people who run the process of something that works, but not as well as it could. */
  warn(message: string): void
  /** Calls back once the event loop has had a turn for others. */
  nextTurn(callback: () => void): Cancel
}

/** Node's timers take no longer delay; nothing here waits that long in earnest. */
const MAX_DELAY_MS = 2 ** 31 - 1

export const systemRuntime: Runtime = {
  now: () => performance.now(),
  random: () => Math.random(),
  newSessionId: () => randomBytes(16).toString('hex'),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS))
    return () => clearTimeout(timer)
  },
  setIdleTimer(callback, delayMs) {
    const timer = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS)).unref()
    return () => clearTimeout(timer)
  },
  warn: (message) => process.emitWarning(message, 'SimbaWarning'),
  nextTurn(callback) {
    const turn = setImmediate(callback)
    return () => clearImmediate(turn)
  },
}
