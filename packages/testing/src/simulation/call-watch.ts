/** Watches what one client sends: how much of it at once, and whether it may give back what it gives back. */
import type { SessionId } from '@simba/core'
import type { Violations } from './laws.js'
import type { SimulatedProcess } from './process.js'
import type { TermWatch, WatchedTerm } from './term-watch.js'
import type { Sent } from './wire.js'

const ROUNDING_MS = 0.01

export class CallWatch {
  readonly #process: SimulatedProcess
  readonly #terms: TermWatch
  readonly #violations: Violations
  /** When each call that has not been answered is given up, on the clock of the process. */
  readonly #inFlight = new Map<string, Set<{ readonly until: number }>>()
  closed = false

  constructor(process: SimulatedProcess, terms: TermWatch, violations: Violations) {
    this.#process = process
    this.#terms = terms
    this.#violations = violations
  }

  /** A call is sent; returns what is to be called once it has been answered. */
  sent({ op, session, name, token, timeoutMs }: Sent): () => void {
    if (this.closed)
      this.#violations.add('S17', `${this.#process.id} sends ${op} after its close() has settled`)
    if (op === 'release' && name !== undefined && token !== undefined) this.#checkRelease(name, token)
    if (op === 'closeSession') this.#checkClosing(session)
    if (op === 'acquire' && name !== undefined && session !== undefined)
      this.#process.acquiredIn.set(name, session)
    if (op !== 'keepAlive' && op !== 'acquire') return () => {}
    const key =
      op === 'keepAlive' ? `keepAlive in session ${session}` : `acquire ${name} in session ${session}`
    const now = this.#process.clock.clock.now()
    const calls = this.#inFlight.get(key) ?? new Set()
    this.#inFlight.set(key, calls)
    for (const call of calls) if (call.until <= now + ROUNDING_MS) calls.delete(call)
    const call = { until: now + timeoutMs }
    calls.add(call)
    if (calls.size > 1)
      this.#violations.add('S13', `${this.#process.id} has ${calls.size} calls in flight: ${key}`)
    return () => {
      calls.delete(call)
      if (calls.size === 0) this.#inFlight.delete(key)
    }
  }

  #checkRelease(name: string, token: bigint): void {
    const watched = this.#terms.find(this.#process, name, token)
    if (watched !== undefined) this.#checkGivenBack(watched, 'released')
  }

  #checkClosing(session: SessionId | undefined): void {
    for (const watched of this.#terms.of(this.#process))
      if (watched.session === session) this.#checkGivenBack(watched, 'given back with its session')
  }

  #checkGivenBack(watched: WatchedTerm, how: string): void {
    const { term, working, forced, process } = watched
    const which = `the lease of ${term.name} with token ${term.token} is ${how} by ${process.id}`
    if (term.isValid) this.#violations.add('S9', `${which} while its term is valid`)
    // The backend has said that the lease is another's or nobody's: there is nothing left to keep for the work.
    const lost = watched.revoked === 'SESSION_EXPIRED' || watched.revoked === 'TAKEN_OVER'
    if (working === 0 || forced || lost) return
    const early = this.#terms.leftOf(watched)
    if (early > ROUNDING_MS + process.clock.errorMs)
      this.#violations.add(
        'S9',
        `${which} while its work is running, ${early.toFixed(1)} ms before its deadline`,
      )
  }
}
