/** Cancels a timer; harmless once it has fired. */
export type CancelTimer = () => void

/**
 * Time, as everything in Simba sees it: the only way in for it. Inject another one to test (`VirtualTime` of `@simba/testing`).
 */
export interface Clock {
  /** Milliseconds on a monotonic clock that all threads of this process share; also counts the time that the machine slept. */
  now(): number

  /** Calls back once, after at least `delayMs`. A pending timer keeps the process alive. */
  setTimer(callback: () => void, delayMs: number): CancelTimer

  /** Tells of jumps of `now()` that timers have not seen, such as the machine's sleep. Returns the end of the subscription. */
  onJump?(listener: () => void): () => void
}
