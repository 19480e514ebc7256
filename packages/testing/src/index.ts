export {
  type Fault,
  type FaultMatch,
  type FaultRule,
  Faults,
  type FaultTarget,
  type Operation,
} from './faults.js'
export { MemoryLeaseBackend, type MemoryLeaseBackendOptions } from './memory-backend.js'
export type { MemoryConnection } from './memory-connection.js'
export { LAWS, type LawName, type Violation } from './simulation/laws.js'
export { PREMISES, type Premise, type PremiseName } from './simulation/premises.js'
export {
  FAULTS,
  type FaultKind,
  type Scenario,
  type ScenarioChoice,
  USES,
  type Use,
} from './simulation/scenario.js'
export { type SimulationOutcome, simulate } from './simulation/simulate.js'
export type { Observer, Outcome } from './simulation/world.js'
export { type ClockOptions, VirtualClock } from './virtual-clock.js'
export { VirtualTime, type VirtualTimeOptions } from './virtual-time.js'
