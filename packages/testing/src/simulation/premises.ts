/**
 * What the proof assumes of the world. Each can be broken on purpose: a law must then be seen to fail, or the checks are blind. Laws that
 * hold all the same are named too.
 */
import type { LawName } from './laws.js'

export type PremiseName =
  | 'drift'
  | 'clock-step'
  | 'token-reset'
  | 'unnoticed-sleep'
  | 'token-ignored'
  | 'late-join'

export interface Premise {
  readonly holds: string
  /** The laws that no such world may break. */
  readonly keeps: readonly LawName[]
}

export const PREMISES: Readonly<Record<PremiseName, Premise>> = {
  drift: {
    holds: 'the rates of two clocks differ by no more than the drift that the client allows for',
    keeps: ['S3', 'S4', 'S5', 'S6'],
  },
  'clock-step': { holds: "the backend's clock is never set", keeps: ['S3', 'S4', 'S5', 'S6', 'S7'] },
  'token-reset': { holds: 'the backend never gives out a token twice (rule B4)', keeps: ['S4', 'S6'] },
  'unnoticed-sleep': {
    holds: "the machine's clocks tell that it slept",
    keeps: ['S3', 'S4', 'S5', 'S6'],
  },
  'token-ignored': {
    holds: 'a release frees a lease only if the token matches (rule B5)',
    keeps: ['S2', 'S3', 'S4', 'S5', 'S6'],
  },
  'late-join': {
    holds: 'a join that has been answered does not take effect again',
    keeps: ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'],
  },
}

export function isPremise(name: string): name is PremiseName {
  return Object.hasOwn(PREMISES, name)
}
