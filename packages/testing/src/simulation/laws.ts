/**
 * The laws, checked from outside: what the public API shows is held against the true time of the world, which no process knows. Nothing
 * here looks into the engine.
 */
export const LAWS = {
  S1: 'at most one term of a name is valid at any instant',
  S2: 'tokens of a name rise strictly from term to term',
  S3: 'a fenced resource never accepts a smaller token, and never refuses one that nobody has superseded',
  S4: 'a term that has ended never becomes valid again',
  S5: 'isValid and remaining() agree',
  S6: 'a term whose signal has aborted is not valid',
  S7: 'a term that is no longer valid has aborted its signal and settled `revoked` by the end of the next timers phase',
  S8: 'onElected and onRevoked alternate, with the same term, and none comes after stop() has settled',
  S9: 'a lease is given back only after its term was revoked, and after its work has exited or the deadline has passed',
  S10: 'every promise settles within its bound',
  S11: 'a lease that the backend has and no client is given back',
  S12: 'no live session stays a member of a group that it does not run',
  S13: 'in a session, at most one keep-alive and one acquire for each name are in flight',
  S14: 'a client has one native timer at most, and keeps nothing of what has ended',
  S15: 'once the faults are over, somebody leads every name and every partition',
  S16: 'health tells of a client that works that it is up, once the faults are over',
  S17: 'a closed client calls nobody, sets no timer, and leaves no session or lease behind',
  S18: 'no rejection is left unhandled',
  S19: 'who has stepped down is not elected before the cooldown is over',
} as const

export type LawName = keyof typeof LAWS

export interface Violation {
  readonly law: LawName
  /** In true time. */
  readonly atMs: number
  readonly what: string
}

/** What was found broken. Only the first violations are kept: what follows a broken law means little. */
export class Violations {
  readonly list: Violation[] = []
  readonly #now: () => number
  readonly #note: (text: string) => void

  constructor(now: () => number, note: (text: string) => void) {
    this.#now = now
    this.#note = note
  }

  add(law: LawName, what: string): void {
    const atMs = this.#now()
    this.#note(`${law} IS BROKEN: ${what} (law: ${LAWS[law]})`)
    this.list.push({ law, atMs, what })
  }
}
