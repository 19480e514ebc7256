/** Runs the world of one seed, with what is broken on purpose. */
import { type Observer, type SimulationOutcome, simulate } from '@simba/testing'
import { defects } from './defects/all.js'
import type { Wrap } from './engine.js'
import { wrapEngine } from './engine-seam.js'
import { type Choice, isPremise } from './options.js'

export interface Closer {
  readonly observer?: Observer
  readonly activeLeases?: number
  /** Put around the engine besides the defect, outermost. */
  readonly wrap?: Wrap
}

export function runSeed(
  seed: number,
  { without, broken }: Choice,
  closer: Closer = {},
): Promise<SimulationOutcome> {
  const defect = broken === undefined ? undefined : defects[broken]
  wrapEngine(
    ...(defect === undefined ? [] : [defect.wrap]),
    ...(closer.wrap === undefined ? [] : [closer.wrap]),
  )
  const premise = broken !== undefined && isPremise(broken) ? broken : undefined
  return simulate(seed, { without, premise, activeLeases: closer.activeLeases }, closer.observer)
}
