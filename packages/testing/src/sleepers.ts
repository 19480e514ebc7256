import type { CancelTimer } from '@simba/core'

/** A wait of user code on virtual time. */
interface Sleeper {
  readonly ms: number
  readonly until: number
  /**
   * Whether time stood still when the wait began: then the one who waits, or somebody beside it, has to move
   * it.
   */
  readonly begunAtRest: boolean
  readonly giveUp: (error: Error) => void
}

/** What a sleep needs of the time that it waits for. */
export interface SleptTime {
  readonly now: number
  readonly atRest: boolean
  readonly setTimer: (callback: () => void, ms: number) => CancelTimer
}

/** The sleeps that have not ended. */
export class Sleepers {
  readonly #all = new Set<Sleeper>()

  get size(): number {
    return this.#all.size
  }

  sleep(time: SleptTime, ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const promise = new Promise<void>((resolve, reject) => {
      const end = () => {
        cancel()
        this.#all.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      }
      const giveUp = (reason: unknown) => {
        end()
        reject(reason)
      }
      const onAbort = () => giveUp(signal?.reason)
      const sleeper: Sleeper = { ms, until: time.now + ms, begunAtRest: time.atRest, giveUp }
      const cancel = time.setTimer(() => {
        end()
        resolve()
      }, ms)
      this.#all.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
    // A sleep that nobody awaits must not end the process when it is given up.
    promise.catch(() => {})
    return promise
  }

  /** Rejects the sleeps that began while time stood still; says whether there were any. */
  giveUpThoseAtRest(error: Error): boolean {
    const atRest = [...this.#all].filter(({ begunAtRest }) => begunAtRest)
    for (const sleeper of atRest) sleeper.giveUp(error)
    return atRest.length > 0
  }

  /** The first sleeps, for a message. */
  describe(count: number): readonly string[] {
    return [...this.#all].slice(0, count).map(({ ms, until }) => `sleep(${ms}) until ${until} ms`)
  }
}
