/** The types of the engine, which `@simba/core` does not export. */
export type { Effect, Request } from '../../packages/core/src/engine/effect.js'
export type { EngineEvent, Reply, ReplyOf } from '../../packages/core/src/engine/event.js'
export type { Election, EngineState } from '../../packages/core/src/engine/state.js'

import type { step } from '../../packages/core/src/engine/step.js'

export type Step = typeof step

/** Something put around the engine: it sees every event and every effect, and may change them. */
export type Wrap = (step: Step) => Step
