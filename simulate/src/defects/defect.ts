import type { Wrap } from '../engine.js'

/** A rule of the engine that is broken on purpose. */
export interface Defect {
  /** What the defective engine does. */
  readonly does: string
  readonly wrap: Wrap
}
