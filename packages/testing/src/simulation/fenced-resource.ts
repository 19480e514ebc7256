/** What the leaders of a world write to: it refuses tokens below the greatest it has seen, as `docs/fencing.md` asks for. */
import type { Violations } from './laws.js'
import type { TermWatch } from './term-watch.js'

export class FencedResource {
  readonly #violations: Violations
  readonly #terms: TermWatch
  readonly #highest = new Map<string, bigint>()
  accepted = 0
  refused = 0

  constructor(violations: Violations, terms: TermWatch) {
    this.#violations = violations
    this.#terms = terms
  }

  /** A write arrives, perhaps long after it was sent. */
  write(name: string, token: bigint): void {
    const highest = this.#highest.get(name) ?? 0n
    if (token >= highest) {
      this.#highest.set(name, token)
      this.accepted += 1
      return
    }
    this.refused += 1
    if (this.#terms.isSuperseded(name, token)) return
    this.#violations.add(
      'S3',
      `a write to ${name} with token ${token} was refused, though no later term has begun`,
    )
  }
}
