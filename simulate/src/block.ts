/** A block of consecutive seeds, run in one process. */
import type { LawName } from '@simba/testing'
import type { Choice } from './options.js'
import { runSeed } from './run-seed.js'

export interface Block {
  readonly from: number
  readonly seeds: number
  readonly choice: Choice
}

/** What one failing seed broke. */
export interface Failure {
  readonly seed: number
  readonly violations: readonly { readonly law: LawName; readonly atMs: number; readonly what: string }[]
}

export interface BlockResult {
  readonly from: number
  readonly seeds: number
  readonly failures: readonly Failure[]
  readonly virtualMs: number
  readonly terms: number
  readonly refused: number
  readonly accepted: number
}

export async function runBlock({ from, seeds, choice }: Block): Promise<BlockResult> {
  const sum = { virtualMs: 0, terms: 0, refused: 0, accepted: 0 }
  const failures: Failure[] = []
  for (let seed = from; seed < from + seeds; seed++) {
    const outcome = await runSeed(seed, choice)
    sum.virtualMs += outcome.virtualMs
    sum.terms += outcome.terms
    sum.refused += outcome.refused
    sum.accepted += outcome.accepted
    if (outcome.violations.length > 0) failures.push({ seed, violations: outcome.violations })
  }
  return { from, seeds, failures, ...sum }
}
