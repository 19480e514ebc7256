/** Makes a failing world smaller: leaves out faults and uses while a law of the same name still breaks. */
import type { FaultKind, LawName, Use } from '@simba/testing'
import { FAULTS, USES } from '@simba/testing'
import type { Choice } from './options.js'
import { runSeed } from './run-seed.js'

export async function minimise(seed: number, choice: Choice, law: LawName): Promise<Choice> {
  let smallest = choice
  for (const part of [...FAULTS, ...USES] satisfies readonly (FaultKind | Use)[]) {
    if (smallest.without.includes(part)) continue
    const smaller = { ...smallest, without: [...smallest.without, part] }
    const { violations } = await runSeed(seed, smaller)
    if (violations.some((violation) => violation.law === law)) smallest = smaller
  }
  return smallest
}
