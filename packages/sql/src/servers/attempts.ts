/** Repeats what failed for a passing reason, until the time of the call is over. */
import type { CallOptions } from '@simba/core'
import type { Runtime } from '../runtime.js'
import { OutOfTime } from '../trouble.js'

/** The first pause is up to this long, each further one up to twice as long as the one before. */
const FIRST_PAUSE_MS = 4
const LONGEST_PAUSE_MS = 100

/** One attempt: it must reject with the signal's reason soon after that aborts. */
export type Attempt<T> = (limits: Limits) => Promise<T>

export interface Limits {
  readonly signal: AbortSignal
  /** How much of the call's time is left, in ms; above 0. */
  readonly leftMs: number
}

/**
 * Rejects with the reason of the call's signal once that has aborted, with an {@link OutOfTime} once its time is over, or with the first
 * error that is not worth another attempt. Pauses are random, so that those who were in each other's way do not meet again.
 */
export async function repeat<T>(
  attempt: Attempt<T>,
  { signal, timeoutMs }: CallOptions,
  isRetryable: (error: unknown) => boolean,
  runtime: Runtime,
): Promise<T> {
  signal.throwIfAborted()
  const since = runtime.now()
  const limit = new AbortController()
  let obstacle: unknown
  const onAbort = () => limit.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = runtime.setTimer(
    () => limit.abort(new OutOfTime(runtime.now() - since, undefined)),
    timeoutMs,
  )
  try {
    for (let ceilingMs = FIRST_PAUSE_MS; ; ceilingMs = Math.min(2 * ceilingMs, LONGEST_PAUSE_MS)) {
      const leftMs = Math.max(1, timeoutMs - (runtime.now() - since))
      try {
        return await attempt({ signal: limit.signal, leftMs })
      } catch (error) {
        if (limit.signal.aborted || !isRetryable(error)) throw error
        obstacle = error
      }
      await pause(runtime.random() * ceilingMs, limit.signal, runtime)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted && error === limit.signal.reason) {
      throw new OutOfTime(runtime.now() - since, obstacle)
    }
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
    cancel()
  }
}

function pause(ms: number, signal: AbortSignal, runtime: Runtime): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = runtime.setTimer(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Settles as the promise does, or with the signal's reason as soon as that aborts; what comes later goes to `late`. */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  late?: (value: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false
    const onAbort = () => {
      settled = true
      reject(signal.reason)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise.then(
      (value) => {
        signal.removeEventListener('abort', onAbort)
        if (settled) late?.(value)
        else resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      },
    )
  })
}
