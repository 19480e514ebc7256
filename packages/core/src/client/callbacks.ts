/** The callbacks of one started election: run in order, one at a time; one that throws is reported and disturbs nothing. */
import { checkFunction, checkKeys, show } from '../arguments.js'
import { ConfigError } from '../errors.js'
import type { RevokeReason } from '../revoke-reason.js'
import type { Term } from '../term.js'
import type { Candidacy, CandidacyHooks } from './candidacy.js'
import type { Client } from './client.js'
import type { LiveTerm } from './live-term.js'

/** Called in order, one at a time; a promise that is returned is waited for before the next callback. */
export interface ElectionListener {
  /** A term began. It may have ended by the time of the call: look at `term.isValid`. */
  onElected?(term: Term): unknown
  /** The term ended, and its hand-over is finished. Follows each `onElected` exactly once. */
  onRevoked?(term: Term, reason: RevokeReason): unknown
}

/** Refuses a listener that would hear nothing: a bare function, or a misspelt name in an object that is made of callbacks only. */
export function checkListener(listener: ElectionListener): void {
  const names = { onElected: true, onRevoked: true } as const
  if (typeof listener !== 'object' || listener === null) {
    throw new ConfigError(
      `start takes its callbacks as an object: { onElected(term) {}, onRevoked(term, reason) {} }. Given was ${show(listener)}.`,
    )
  }
  // An object of a class may have what it likes besides.
  const prototype: unknown = Object.getPrototypeOf(listener)
  if (prototype === Object.prototype || prototype === null) checkKeys('start', listener, names)
  const { onElected, onRevoked } = listener
  if (onElected !== undefined) checkFunction('start: onElected', onElected)
  if (onRevoked !== undefined) checkFunction('start: onRevoked', onRevoked)
}

export class Callbacks implements CandidacyHooks {
  private last: Promise<void> | undefined

  constructor(
    private readonly client: Client,
    private readonly listener: ElectionListener,
  ) {}

  elected(term: LiveTerm, candidacy: Candidacy): void {
    this.push('onElected', candidacy, () => this.listener.onElected?.(term))
  }

  handedOver(term: LiveTerm, reason: RevokeReason, candidacy: Candidacy): void {
    this.push('onRevoked', candidacy, () => this.listener.onRevoked?.(term, reason))
  }

  drained(): Promise<void> | undefined {
    return this.last
  }

  private push(callback: 'onElected' | 'onRevoked', candidacy: Candidacy, run: () => unknown): void {
    const failed = (error: unknown) => this.client.callbackFailed(callback, candidacy.name, error)
    const next = async () => void (await candidacy.frames.enter(run))
    this.last = (this.last ?? Promise.resolve()).then(next).catch(failed)
  }
}
