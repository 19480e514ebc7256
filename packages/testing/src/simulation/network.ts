/** Decides the fate of each message in a world, and who is cut off from the backend. */
import type { Operation } from '../faults.js'
import type { SimulatedProcess } from './process.js'
import type { Random } from './random.js'
import type { Scenario } from './scenario.js'
import type { Fate } from './wire.js'

/** The longest delay of a late message, in renewal periods: calls are given up after one. */
export const LONGEST_DELAY_PERIODS = 2.5

/** Which way is cut between a process and the backend. */
export type Cut = 'requests' | 'replies' | 'both'

export class Network {
  readonly #scenario: Scenario
  readonly #random: Random
  readonly #cuts = new Map<string, Cut>()
  calm = false

  constructor(scenario: Scenario, random: Random) {
    this.#scenario = scenario
    this.#random = random
  }

  cut(node: string, cut: Cut): void {
    this.#cuts.set(node, cut)
  }

  mend(node: string): void {
    this.#cuts.delete(node)
  }

  fate(process: SimulatedProcess, op: Operation): Fate {
    const { renewMs } = this.#scenario
    const random = this.#random
    const late = this.#chance('late messages', 0.15) ? random.pick(['request', 'reply'] as const) : undefined
    const delay = () => random.between(0, LONGEST_DELAY_PERIODS * renewMs)
    return {
      requestMs: this.#latency() + (late === 'request' ? delay() : 0),
      replyMs: this.#latency() + (late === 'reply' ? delay() : 0),
      lost: this.#loss(process, op),
      fails: this.#chance('failing calls', 0.15)
        ? random.pick(['before it takes effect', 'after it took effect'] as const)
        : 'no',
      repeatMs: this.#repeat(op),
    }
  }

  #repeat(op: Operation): number | undefined {
    const { renewMs, premise } = this.#scenario
    const random = this.#random
    if (op !== 'join')
      return this.#chance('repeated messages', 0.15)
        ? random.between(0, LONGEST_DELAY_PERIODS * renewMs)
        : undefined
    // A join that is carried out once more after it was answered, and after a later leave, is beyond what a client can notice.
    return premise === 'late-join' && !this.calm ? random.between(0, 10 * renewMs) : undefined
  }

  #loss(process: SimulatedProcess, op: Operation): Fate['lost'] {
    const cut = this.#cuts.get(process.id)
    if (op === 'hint') return cut !== undefined || this.#chance('lost hints', 0.5) ? 'reply' : 'nothing'
    if (cut === 'requests' || cut === 'both') return 'request'
    if (cut === 'replies') return 'reply'
    return this.#chance('lost messages', 0.2) ? this.#random.pick(['request', 'reply'] as const) : 'nothing'
  }

  #chance(fault: Parameters<Scenario['faults']['get']>[0], usual: number): boolean {
    const rate = this.#scenario.faults.get(fault)
    return rate !== undefined && !this.calm && this.#random.chance(rate * usual)
  }

  #latency(): number {
    const { latencyMs } = this.#scenario
    return latencyMs === 0 ? 0 : this.#random.between(0, latencyMs)
  }
}
