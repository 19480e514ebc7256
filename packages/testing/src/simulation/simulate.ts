import { type Scenario, type ScenarioChoice, scenarioOf } from './scenario.js'
import { type Observer, type Outcome, World } from './world.js'

/** What a simulated world came to. */
export interface SimulationOutcome extends Outcome {
  readonly scenario: Scenario
}

/**
 * Runs the world of one seed: several clients with their real public API, on drifting clocks, over a network that delays, loses and
 * repeats messages; processes are stopped, crash and sleep, the backend freezes and restarts. The laws are checked after every event.
 * The same seed gives the same world, always.
 *
 * @example
 * const { violations } = await simulate(4711)
 * expect(violations).toEqual([])
 */
export async function simulate(
  seed: number,
  choice: ScenarioChoice = {},
  observer: Observer = {},
): Promise<SimulationOutcome> {
  const scenario = scenarioOf(seed, choice)
  return { scenario, ...(await new World(scenario, observer).run()) }
}
