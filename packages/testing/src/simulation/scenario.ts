/** What a seed stands for: who takes part in a world, what they do, and what goes wrong. Plain data, so that parts can be left out. */
import type { PremiseName } from './premises.js'
import { Random } from './random.js'

/** All that can go wrong within the premises. */
export const FAULTS = [
  'late messages',
  'lost messages',
  'repeated messages',
  'failing calls',
  'lost hints',
  'partitions',
  'stopped processes',
  'busy loops',
  'machine sleep',
  'crashes',
  'wall clock set',
  'backend frozen',
  'backend restarted',
  'data lost',
] as const

export type FaultKind = (typeof FAULTS)[number]

/** All that users do. */
export const USES = ['elections', 'step-downs', 'churn', 'locks', 'groups', 'bad work', 'closing'] as const

export type Use = (typeof USES)[number]

export interface Scenario {
  readonly seed: number
  readonly nodes: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly marginMs: number
  readonly retryJitterMs: number
  /** The time of the longest message without a fault. */
  readonly latencyMs: number
  /** How often each fault comes: for messages a probability, for the others a multiple of the usual rate. */
  readonly faults: ReadonlyMap<FaultKind, number>
  readonly uses: ReadonlySet<Use>
  readonly elections: readonly string[]
  readonly locks: readonly string[]
  readonly groups: readonly { readonly name: string; readonly partitions: number }[]
  /** When faults and users stop. */
  readonly activeMs: number
  /** How far the rate of each clock is from that of true time at most. */
  readonly driftPerClock: number
  /** What the world breaks on purpose. */
  readonly premise: PremiseName | undefined
}

/** What a world is to be besides what its seed says. */
export interface ScenarioChoice {
  /** Faults and uses that are left out; all else stays as it is. */
  readonly without?: readonly (FaultKind | Use)[]
  /** What the world breaks on purpose. */
  readonly premise?: PremiseName | undefined
  /** How long faults come and users act, in lease durations. Default 40. */
  readonly activeLeases?: number | undefined
}

/** How many lease durations the active part of a world takes. */
const ACTIVE_LEASES = 40

/** The library's default, which all worlds use. */
const DRIFT = 0.01

/** How far each clock is from true time at most when that premise is broken. */
const EXCESSIVE_DRIFT = 15 * DRIFT

export function scenarioOf(seed: number, choice: ScenarioChoice = {}): Scenario {
  const random = new Random(seed).fork('scenario')
  const without = new Set<FaultKind | Use>(choice.without ?? [])
  const leaseMs = Math.round(random.logBetween(300, 60_000))
  const renewMs = leaseMs / random.pick([2.2, 3, 3, 3, 4])
  const faults = new Map<FaultKind, number>()
  for (const fault of FAULTS) {
    // Drawn in any case, so that leaving a fault out changes nothing else.
    const [on, rate] = [random.chance(0.35), random.logBetween(0.2, 1)]
    if (on && !without.has(fault)) faults.set(fault, rate)
  }
  const uses = new Set<Use>()
  for (const use of USES) if (random.chance(0.6) && !without.has(use)) uses.add(use)
  // Small worlds: what can go wrong goes wrong among few names, and more worlds fit into an hour.
  const elections = random.pick([1, 1, 2, 3])
  const locks = random.pick([1, 1, 2])
  const partitions = random.pick([1, 2, 3, 5])
  return {
    seed,
    nodes: random.pick([3, 3, 4, 5]),
    leaseMs,
    renewMs,
    marginMs: random.pick([50, 50, Math.max(50, leaseMs / 50)]),
    retryJitterMs: renewMs * random.pick([0.1, 0.5, 0.5, 1]),
    latencyMs: random.chance(0.3) ? 0 : random.logBetween(0.1, renewMs / 8),
    faults,
    uses,
    elections: ['alpha', 'beta', 'gamma'].slice(0, elections),
    locks: uses.has('locks') ? ['lock.a', 'lock.b'].slice(0, locks) : [],
    groups: uses.has('groups') ? [{ name: 'group', partitions }] : [],
    activeMs: leaseMs * (choice.activeLeases ?? ACTIVE_LEASES),
    driftPerClock: choice.premise === 'drift' ? EXCESSIVE_DRIFT : 0.49 * DRIFT,
    premise: choice.premise,
  }
}
