/**
 * Writes down what this process sees when it looks at `term.isValid`. Each true answer is written; a false one once for each term, since
 * a term that ended stays ended (the judge reports it if one does not).
 */
import type { Term } from '@simba/core'
import { monotonicMs } from './clock.js'
import type { Journal } from './journal.js'

export class Witness {
  /** Terms that have not been seen to end: they are asked again and again, whatever the election says meanwhile. */
  private readonly running = new Set<Term>()
  private readonly ended = new WeakSet<Term>()
  private onNextLook: ((valid: boolean) => void) | undefined

  constructor(private readonly journal: Journal) {}

  look(term: Term): boolean {
    const from = monotonicMs()
    const valid = term.isValid
    const to = monotonicMs()
    if (valid) this.running.add(term)
    else this.running.delete(term)
    if (valid || !this.ended.has(term)) {
      this.journal.append({ kind: 'read', token: String(term.token), valid, from, to })
    }
    if (!valid) this.ended.add(term)
    const told = this.onNextLook
    this.onNextLook = undefined
    told?.(valid)
    return valid
  }

  /** Looks at every term that may still be running; `current` is the election's. */
  lookAround(current: Term | undefined): void {
    if (current !== undefined && !this.ended.has(current)) this.running.add(current)
    for (const term of [...this.running]) this.look(term)
  }

  /** Tells of the very next look, whoever takes it. */
  onceLooked(callback: (valid: boolean) => void): void {
    this.onNextLook = callback
  }
}
