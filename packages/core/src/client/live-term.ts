/** A term that reads the validity table. */
import { type Duration, toMs } from '../duration.js'
import { TermExpiredError, TermRevokedError } from '../errors.js'
import type { RevokeReason } from '../revoke-reason.js'
import type { Clock } from '../runtime/clock.js'
import type { TermCell, ValidityTable } from '../runtime/validity.js'
import type { Term } from '../term.js'

export class LiveTerm implements Term {
  readonly startedAt: number
  /** When it was revoked, once it was. */
  endedAt: number | undefined
  /** Set once the end has been noticed; what the table says does not matter any more then. */
  private ended = false
  private why: RevokeReason | undefined
  private controller: AbortController | undefined
  private promise:
    | { readonly revoked: Promise<RevokeReason>; resolve: (reason: RevokeReason) => void }
    | undefined
  private readonly endListeners = new Set<() => void>()

  constructor(
    readonly name: string,
    readonly token: bigint,
    readonly id: number,
    private readonly cell: TermCell,
    private readonly validity: ValidityTable,
    private readonly clock: Clock,
  ) {
    this.startedAt = clock.now()
  }

  get isValid(): boolean {
    return this.remaining() > 0
  }

  remaining(): number {
    if (this.ended) return 0
    // The deadline before the cell: see `validity.ts`.
    const remaining = this.validity.deadline - this.clock.now()
    if (remaining > 0 && this.cell.page[this.cell.index] === this.id) return remaining
    this.ended = true
    return 0
  }

  ensureValid(minRemaining: Duration = 0): void {
    const needed = toMs(minRemaining, 'ensureValid: minRemaining')
    const remaining = this.remaining()
    if (remaining > needed) return
    const term = `The term of "${this.name}" with token ${this.token}`
    throw new TermExpiredError(
      remaining === 0
        ? `${term} has ended (${this.why ?? 'DEADLINE_PASSED'}). Begin nothing more in it; the next term is a new one.`
        : `${term} has ${Math.floor(remaining)} ms left, and more than ${needed} ms are needed. Begin the step in a later renewal or term.`,
    )
  }

  get revoked(): Promise<RevokeReason> {
    if (this.promise === undefined) {
      let resolve: (reason: RevokeReason) => void = () => {}
      const revoked = new Promise<RevokeReason>((settle) => {
        resolve = settle
      })
      this.promise = { revoked, resolve }
      if (this.why !== undefined) resolve(this.why)
    }
    return this.promise.revoked
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.why !== undefined) this.controller.abort(this.revokedError(this.why))
    }
    return this.controller.signal
  }

  toJSON(): { readonly name: string; readonly token: string; readonly isValid: boolean } {
    return { name: this.name, token: String(this.token), isValid: this.isValid }
  }

  /** Why it was revoked, once it was. */
  get reason(): RevokeReason | undefined {
    return this.why
  }

  /** Ends it: first for readers, then for everybody who waits. */
  end(reason: RevokeReason): void {
    if (this.why !== undefined) return
    this.ended = true
    this.why = reason
    this.endedAt = this.clock.now()
    this.promise?.resolve(reason)
    for (const listener of [...this.endListeners]) listener()
    this.endListeners.clear()
    this.controller?.abort(this.revokedError(reason))
  }

  /** Calls back when it is revoked, but not if it has been. Cheaper than the signal. */
  onEnd(listener: () => void): () => void {
    if (this.why === undefined) this.endListeners.add(listener)
    return () => this.endListeners.delete(listener)
  }

  revokedError(reason: RevokeReason, outcome?: { readonly result: unknown }): TermRevokedError {
    return new TermRevokedError(
      `The term of "${this.name}" with token ${this.token} ended: ${reason}.`,
      reason,
      outcome,
    )
  }
}
