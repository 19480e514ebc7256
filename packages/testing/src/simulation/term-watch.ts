/** Watches every term that a user has seen, for as long as it could still do harm. */
import type { RevokeReason, SessionId, Term } from '@simba/core'
import type { Violations } from './laws.js'
import type { SimulatedProcess } from './process.js'
import type { WorldTime } from './world-time.js'

/** How late the event that ends a term may be on a process that runs: one tick of Node's timers, and rounding. */
const TIMERS_PHASE_MS = 2.5

/** How many ended terms are still looked at: they must not become valid again. */
const KEPT = 8

export interface WatchedTerm {
  readonly term: Term
  readonly process: SimulatedProcess
  readonly session: SessionId | undefined
  readonly beganAt: number
  /** The deadline in true time, as last seen while it was valid. */
  deadline: number
  /** Pieces of user work that have not exited. */
  working: number
  /** Nothing waits for the work: the client closed with force. */
  forced: boolean
  ended: boolean
  revoked: RevokeReason | undefined
  /** Since when it has been invalid without having told so, on a process that ran all the time. */
  silentSince: number | undefined
}

export class TermWatch {
  readonly #time: WorldTime
  readonly #violations: Violations
  #terms: WatchedTerm[] = []
  readonly #highest = new Map<string, bigint>()
  readonly #lost = new Set<SessionId | undefined>()
  readonly #validNow = new Map<string, WatchedTerm>()
  seen = 0

  constructor(time: WorldTime, violations: Violations) {
    this.#time = time
    this.#violations = violations
  }

  /** A client says that it has been elected. */
  elected(process: SimulatedProcess, name: string, token: bigint): void {
    const highest = this.#highest.get(name) ?? 0n
    if (token > highest) this.#highest.set(name, token)
    // Others may have been granted the name before this client hears of a grant that the backend has lost.
    else if (!this.#lost.has(process.acquiredIn.get(name))) {
      this.#violations.add(
        'S2',
        `${process.id} was elected for ${name} with token ${token}, after token ${highest}`,
      )
    }
    const early = (process.cooldowns.get(name) ?? 0) - this.#time.now()
    if (early > TIMERS_PHASE_MS + process.clock.errorMs) {
      this.#violations.add(
        'S19',
        `${process.id} was elected for ${name} ${early.toFixed(1)} ms before its cooldown is over`,
      )
    }
  }

  /** A user sees a term; it may have been seen before. */
  see(process: SimulatedProcess, term: Term): WatchedTerm {
    const known = this.find(process, term.name, term.token)
    if (known !== undefined) {
      if (known.term !== term && !(term.isValid === known.term.isValid)) {
        this.#violations.add('S5', `two objects of one term of ${term.name} differ about isValid`)
      }
      return known
    }
    this.seen += 1
    const watched: WatchedTerm = {
      term,
      process,
      session: process.acquiredIn.get(term.name),
      beganAt: this.#time.now(),
      deadline: this.#time.now() + term.remaining() / process.clock.rate,
      working: 0,
      forced: false,
      ended: false,
      revoked: undefined,
      silentSince: undefined,
    }
    void term.revoked.then((reason) => {
      if (watched.revoked !== undefined)
        this.#violations.add('S7', `${this.#show(watched)} was revoked twice`)
      watched.revoked = reason
    })
    this.#terms.push(watched)
    return watched
  }

  find(process: SimulatedProcess, name: string, token: bigint): WatchedTerm | undefined {
    return this.#terms.find(
      (watched) => watched.process === process && watched.term.token === token && watched.term.name === name,
    )
  }

  of(process: SimulatedProcess): readonly WatchedTerm[] {
    return this.#terms.filter((watched) => watched.process === process)
  }

  /** True time until the deadline, as it was last seen while the term was valid. */
  leftOf(watched: WatchedTerm): number {
    return watched.deadline - this.#time.now()
  }

  /** Whether a later term of the name has begun. */
  isSuperseded(name: string, token: bigint): boolean {
    return (this.#highest.get(name) ?? 0n) > token
  }

  /** The backend has lost these sessions, so that it may grant their leases to others while their terms are still valid. */
  lose(sessions: readonly SessionId[]): void {
    for (const session of sessions) this.#lost.add(session)
  }

  gone(process: SimulatedProcess): void {
    this.#terms = this.#terms.filter((watched) => watched.process !== process)
  }

  check(): void {
    this.#validNow.clear()
    for (const watched of this.#terms) {
      const { term, process } = watched
      if (!process.isRunning) {
        // It reads no clock now; it would find the term valid as long as this.
        if (!watched.ended && this.#time.now() < watched.deadline) this.#checkAlone(watched)
        continue
      }
      const { isValid } = term
      if (isValid !== term.remaining() > 0) {
        this.#violations.add(
          'S5',
          `${this.#show(watched)}: isValid is ${isValid}, remaining() ${term.remaining()}`,
        )
      }
      if (!isValid) {
        watched.ended = true
        continue
      }
      if (watched.ended) this.#violations.add('S4', `${this.#show(watched)} is valid again`)
      if (term.signal.aborted) this.#violations.add('S6', `${this.#show(watched)} has aborted and is valid`)
      watched.deadline = this.#time.now() + term.remaining() / process.clock.rate
      this.#checkAlone(watched)
    }
  }

  #checkAlone(watched: WatchedTerm): void {
    const { name } = watched.term
    const other = this.#validNow.get(name)
    if (other === undefined) this.#validNow.set(name, watched)
    else if (!this.#lost.has(other.session) && !this.#lost.has(watched.session)) {
      this.#violations.add('S1', `${this.#show(other)} and ${this.#show(watched)} are valid at once`)
    }
  }

  checkTold(): void {
    let told = 0
    for (const watched of this.#terms) {
      const { term, process } = watched
      if (!watched.ended) continue
      if (term.signal.aborted && watched.revoked !== undefined) {
        told += 1
        continue
      }
      if (!process.isRunning) {
        watched.silentSince = undefined
        continue
      }
      watched.silentSince ??= process.ranMs
      if (process.ranMs - watched.silentSince > TIMERS_PHASE_MS) {
        this.#violations.add(
          'S7',
          `${this.#show(watched)} ended and did not tell: aborted ${term.signal.aborted}`,
        )
      }
    }
    if (told > 2 * KEPT) this.#forget(told - KEPT)
  }

  /** Drops the oldest that are over and done with. */
  #forget(count: number): void {
    let left = count
    this.#terms = this.#terms.filter((watched) => {
      const isOver = watched.ended && watched.revoked !== undefined && watched.working === 0
      return !(isOver && left-- > 0)
    })
  }

  #show({ term, process }: WatchedTerm): string {
    return `the term of ${term.name} with token ${term.token} on ${process.id}`
  }
}
