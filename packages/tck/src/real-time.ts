/** The one place where the suites meet real time. */

/** How a suite reads the time and lets it pass. A `VirtualTime` of `@simba/testing` is one. */
export interface SpecTime {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Resolves once `now()` has moved by at least `ms`. */
  advance(ms: number): Promise<void>
}

// Captured now, so that a runner's fake timers do not stop them.
const realSetTimeout = setTimeout
const realClearTimeout = clearTimeout

/** For backends on servers: waits. */
export const realTime: SpecTime = {
  now: () => performance.now(),
  // A timer may fire a fraction of a millisecond before `performance.now()` says so.
  advance: (ms) => new Promise((resolve) => realSetTimeout(resolve, Math.ceil(ms) + 1)),
}

/** Settles as `work` does, or rejects with `late()` after so many ms of real time. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = realSetTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    realClearTimeout(timer)
  }
}
