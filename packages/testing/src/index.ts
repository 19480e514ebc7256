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
export { type ClockOptions, VirtualClock } from './virtual-clock.js'
export { VirtualTime, type VirtualTimeOptions } from './virtual-time.js'
