/** A lock's term in the hands of its holder. */
import type { Duration } from '../duration.js'
import type { RevokeReason } from '../revoke-reason.js'
import type { LockTerm } from '../term.js'
import type { Candidacy } from './candidacy.js'
import type { LiveTerm } from './live-term.js'

export class HeldLock implements LockTerm {
  constructor(
    readonly term: LiveTerm,
    readonly candidacy: Candidacy,
  ) {}

  get name(): string {
    return this.term.name
  }

  get token(): bigint {
    return this.term.token
  }

  get isValid(): boolean {
    return this.term.isValid
  }

  get revoked(): Promise<RevokeReason> {
    return this.term.revoked
  }

  get signal(): AbortSignal {
    return this.term.signal
  }

  remaining(): number {
    return this.term.remaining()
  }

  ensureValid(minRemaining?: Duration): void {
    this.term.ensureValid(minRemaining)
  }

  toJSON(): { readonly name: string; readonly token: string; readonly isValid: boolean } {
    return this.term.toJSON()
  }

  release(): Promise<void> {
    return this.candidacy.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }
}
