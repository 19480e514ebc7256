import type { World } from './world.js'

/** What a case needs beyond the methods that every backend has. */
export type Need = 'connect' | 'hints' | 'inspect'

/** One rule, put to the test in a world of its own. */
export interface SpecCase {
  readonly title: string
  readonly needs?: Need
  readonly run: (world: World) => Promise<void>
}

/** The cases on one subject. */
export interface SpecTopic {
  readonly title: string
  readonly cases: readonly SpecCase[]
}
