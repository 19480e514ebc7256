/** Lets faults happen to nodes and to the backend, each kind by a stream of chances of its own. */
import type { MemoryLeaseBackend } from '../memory-backend.js'
import type { VirtualClock } from '../virtual-clock.js'
import type { Network } from './network.js'
import type { Node } from './node.js'
import type { Random } from './random.js'
import type { FaultKind, Scenario } from './scenario.js'
import type { TermWatch } from './term-watch.js'
import type { WorldTime } from './world-time.js'

export interface FaultDriverOptions {
  readonly scenario: Scenario
  readonly time: WorldTime
  readonly random: Random
  readonly nodes: readonly Node[]
  readonly network: Network
  readonly backend: MemoryLeaseBackend
  readonly backendClock: VirtualClock
  readonly terms: TermWatch
  note(text: string): void
}

/** On average a fault of one kind comes to one node this often, in lease durations, at the usual rate. */
const USUAL_LEASES = 6

export class FaultDriver {
  readonly #options: FaultDriverOptions
  #calm = false

  constructor(options: FaultDriverOptions) {
    this.#options = options
  }

  begin(): void {
    const { scenario, nodes, network, backend, backendClock, terms, note } = this.#options
    const { leaseMs } = scenario
    for (const node of nodes) {
      this.#often('partitions', node.id, (random) => {
        const cut = random.pick(['requests', 'replies', 'both'] as const)
        note(`${node.id} is cut off: ${cut}`)
        network.cut(node.id, cut)
        this.#later(random.logBetween(leaseMs / 10, 2.5 * leaseMs), () => {
          note(`${node.id} is reached again`)
          network.mend(node.id)
        })
      })
      this.#often('stopped processes', node.id, (random) =>
        this.#standStill(node, random.logBetween(leaseMs / 20, 3 * leaseMs), 'is stopped', false),
      )
      this.#often('busy loops', node.id, (random) =>
        this.#standStill(node, random.logBetween(leaseMs / 20, 2 * leaseMs), 'is busy', false),
      )
      this.#often('machine sleep', node.id, (random) =>
        this.#standStill(node, random.logBetween(60, 4 * leaseMs), 'sleeps', true),
      )
      this.#often('crashes', node.id, (random) => {
        node.crash()
        this.#later(random.between(0, 2 * leaseMs), () => node.boot())
      })
      this.#often('wall clock set', node.id, (random) => {
        const ms = random.between(-4 * leaseMs, 4 * leaseMs)
        note(`the wall clock of ${node.id} is set by ${Math.round(ms)} ms`)
        node.running?.process.clock.stepWall(ms)
      })
    }
    this.#often('backend frozen', 'backend', (random) => {
      note('the backend freezes')
      backend.freeze()
      this.#later(random.logBetween(leaseMs / 20, 2 * leaseMs), () => {
        note('the backend goes on')
        backend.thaw()
      })
    })
    this.#often('backend restarted', 'backend', () => {
      note('the backend restarts')
      backend.restart()
    })
    this.#often('data lost', 'backend', () => {
      note('the backend loses its sessions, leases and groups')
      terms.lose(backend.contents().sessions.map(({ id }) => id))
      backend.loseData()
    })
    const { premise } = scenario
    if (premise === 'token-reset') {
      this.#onAverage(8 * leaseMs, 'token-reset', () => {
        note('the backend forgets its tokens')
        terms.lose(backend.contents().sessions.map(({ id }) => id))
        backend.loseData({ resetTokens: true })
      })
    }
    if (premise === 'clock-step') {
      this.#onAverage(8 * leaseMs, 'clock-step', (random) => {
        const ms = random.between(leaseMs / 2, 2 * leaseMs)
        note(`the backend's clock is set forward by ${Math.round(ms)} ms`)
        backendClock.jump(ms)
      })
    }
  }

  /** All faults are over. */
  heal(): void {
    const { nodes, network, backend } = this.#options
    this.#calm = true
    network.calm = true
    backend.thaw()
    for (const node of nodes) {
      network.mend(node.id)
      node.running?.process.goOn()
      node.boot()
    }
  }

  #often(kind: FaultKind, what: string, cause: (random: Random) => void): void {
    const { scenario } = this.#options
    const rate = scenario.faults.get(kind)
    if (rate !== undefined)
      this.#onAverage((USUAL_LEASES * scenario.leaseMs) / rate, `${kind} ${what}`, cause)
  }

  #onAverage(mean: number, label: string, cause: (random: Random) => void): void {
    const random = this.#options.random.fork(label)
    const again = () => {
      this.#later(random.interval(mean), () => {
        cause(random)
        again()
      })
    }
    again()
  }

  #later(ms: number, then: () => void): void {
    this.#options.time.setTimer(() => {
      if (!this.#calm) then()
    }, ms)
  }

  #standStill(node: Node, ms: number, what: string, asleep: boolean): void {
    const process = node.running?.process
    if (process?.stop({ asleep }) !== true) return
    this.#options.note(`${node.id} ${what} for ${Math.round(ms)} ms`)
    this.#later(ms, () => {
      this.#options.note(`${node.id} goes on`)
      process.goOn()
    })
  }
}
