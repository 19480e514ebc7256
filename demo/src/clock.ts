/**
 * The one clock of the demo. `process.hrtime` is the machine's monotonic clock (`CLOCK_MONOTONIC` on Linux): it has the same origin in
 * every process, so times that different processes wrote can be compared. `performance.now()` counts from each process's own start.
 */
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds, to the microsecond. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** Resolves after the time; rejects at once with an `AbortError` if the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal === undefined ? {} : { signal })
}
