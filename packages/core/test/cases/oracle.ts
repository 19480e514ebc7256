/** Looks on from outside, at every millisecond that a test lets pass: whose term reads as valid, and what a fenced table accepts. */
import type { Term } from '@simba/core'
import { expect } from 'vitest'
import type { World } from '../api/world.js'

export class Oracle {
  readonly terms: { readonly node: string; readonly term: Term }[] = []

  constructor(private readonly world: World) {}

  /** Starts the election of a node, whose terms are watched from then on. */
  compete(node: string, name: string, options: Parameters<World['client']>[1] = {}): void {
    this.world
      .client(node, options)
      .election(name)
      .start({ onElected: (term) => void this.terms.push({ node, term }) })
  }

  watch(node: string, term: Term): void {
    this.terms.push({ node, term })
  }

  /** Lets time pass in steps, looking at each. */
  async pass(ms: number, stepMs = 50): Promise<void> {
    const { time } = this.world
    for (const end = time.now() + ms; time.now() < end; ) {
      await time.advance(Math.min(stepMs, end - time.now()))
      this.look()
    }
  }

  look(): void {
    const valid = this.terms.filter(({ term }) => term.isValid)
    expect(valid.length, `terms that are valid at ${this.world.time.now()} ms`).toBeLessThanOrEqual(1)
    const tokens = this.terms.map(({ term }) => term.token)
    expect(tokens, 'tokens').toEqual([...tokens].sort((a, b) => Number(a - b)))
  }

  /** Who leads now. */
  get leader(): string | undefined {
    return this.terms.find(({ term }) => term.isValid)?.node
  }
}

/** A table that takes a write only with a token at least as great as any before. */
export class FencedTable {
  private highest = 0n
  readonly accepted: bigint[] = []
  readonly refused: bigint[] = []

  write(token: bigint): void {
    if (token < this.highest) {
      this.refused.push(token)
      return
    }
    this.highest = token
    this.accepted.push(token)
  }
}
