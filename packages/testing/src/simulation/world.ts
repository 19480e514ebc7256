/** One simulated world: nodes with real clients, a backend, a network, faults, users, and the laws held against all of it. */
import { MemoryLeaseBackend } from '../memory-backend.js'
import { VirtualClock } from '../virtual-clock.js'
import { FaultDriver } from './fault-driver.js'
import { FencedResource } from './fenced-resource.js'
import { type Violation, Violations } from './laws.js'
import { LONGEST_DELAY_PERIODS, Network } from './network.js'
import { Node } from './node.js'
import type { SimulatedProcess } from './process.js'
import { PromiseWatch } from './promise-watch.js'
import { Random } from './random.js'
import { flawsOf } from './recovery.js'
import type { Scenario } from './scenario.js'
import { TermWatch } from './term-watch.js'
import { LONGEST_COOLDOWN_LEASES } from './user.js'
import { LONGEST_WORK_LEASES } from './work.js'
import { type Watcher, WorldTime } from './world-time.js'

export interface Outcome {
  readonly violations: readonly Violation[]
  readonly virtualMs: number
  readonly terms: number
  readonly accepted: number
  readonly refused: number
}

export interface Observer {
  /** What happens, in words. */
  note?(atMs: number, text: string): void
  /** A client is about to be made from this seed. */
  onClient?(node: string, seed: number, time: () => number): void
}

export class World {
  readonly #scenario: Scenario
  readonly #observer: Observer
  readonly #time = new WorldTime()
  readonly #random: Random
  readonly #backend: MemoryLeaseBackend
  readonly #network: Network
  readonly #violations: Violations
  readonly #terms: TermWatch
  readonly #promises: PromiseWatch
  readonly #resource: FencedResource
  readonly #nodes: readonly Node[]
  readonly #faults: FaultDriver
  #resting = false

  constructor(scenario: Scenario, observer: Observer = {}) {
    this.#scenario = scenario
    this.#observer = observer
    this.#random = new Random(scenario.seed)
    const note = (text: string) => this.#note(text)
    const { driftPerClock } = scenario
    const rate = 1 + this.#random.fork('backend clock').between(-driftPerClock, driftPerClock)
    const backendClock = new VirtualClock(this.#time, { rate })
    const ids = this.#random.fork('session ids')
    this.#backend = new MemoryLeaseBackend({ clock: backendClock, random: () => ids.next() })
    this.#network = new Network(scenario, this.#random.fork('network'))
    this.#violations = new Violations(() => this.#time.now(), note)
    this.#terms = new TermWatch(this.#time, this.#violations)
    this.#promises = new PromiseWatch(this.#violations)
    this.#resource = new FencedResource(this.#violations, this.#terms)
    this.#nodes = Array.from({ length: scenario.nodes }, (_, index) => this.#newNode(`n${index + 1}`))
    this.#faults = new FaultDriver({
      scenario,
      time: this.#time,
      random: this.#random.fork('faults'),
      nodes: this.#nodes,
      network: this.#network,
      backend: this.#backend,
      backendClock,
      terms: this.#terms,
      note,
    })
  }

  async run(): Promise<Outcome> {
    const unhandled = (reason: unknown) =>
      this.#violations.add('S18', reason instanceof Error ? (reason.stack ?? reason.message) : String(reason))
    process.on('unhandledRejection', unhandled)
    try {
      for (const node of this.#nodes) node.boot()
      this.#faults.begin()
      for (const node of this.#nodes) this.#live(node)
      await this.#advance(this.#scenario.activeMs)
      await this.#recover()
      await this.#closeAll()
    } finally {
      process.off('unhandledRejection', unhandled)
    }
    return {
      violations: this.#violations.list,
      virtualMs: this.#time.now(),
      terms: this.#terms.seen,
      accepted: this.#resource.accepted,
      refused: this.#resource.refused,
    }
  }

  #newNode(id: string): Node {
    return new Node(id, {
      scenario: this.#scenario,
      time: this.#time,
      backend: this.#backend,
      network: this.#network,
      random: this.#random.fork(id),
      terms: this.#terms,
      promises: this.#promises,
      violations: this.#violations,
      write: (process, name, token) => this.#write(process, name, token),
      note: this.#observer.note === undefined ? undefined : (text) => this.#note(text),
      onClient: (node, seed) => this.#observer.onClient?.(node, seed, () => this.#time.now()),
    })
  }

  /** The users of a node act again and again. */
  #live(node: Node): void {
    const { scenario, time } = { scenario: this.#scenario, time: this.#time }
    const random = this.#random.fork(`users of ${node.id}`)
    const mean = scenario.leaseMs * random.between(0.3, 2)
    const again = () => {
      time.setTimer(() => {
        if (this.#resting) return
        const { running } = node
        if (running?.process.isRunning) {
          if (scenario.uses.has('closing') && random.chance(0.03)) this.#reopen(node, random)
          else running.user.act()
        }
        again()
      }, random.interval(mean))
    }
    again()
  }

  #reopen(node: Node, random: Random): void {
    const pauseMs = random.between(0, 2 * this.#scenario.leaseMs)
    void node.close(random.chance(0.2)).then(() => this.#time.setTimer(() => node.boot(), pauseMs))
  }

  /** A write may be on its way for long. */
  #write(process: SimulatedProcess, name: string, token: bigint): void {
    const { requestMs, lost } = this.#network.fate(process, 'inspect')
    if (lost === 'request') return
    if (requestMs === 0) this.#resource.write(name, token)
    else this.#time.setTimer(() => this.#resource.write(name, token), requestMs)
  }

  async #recover(): Promise<void> {
    const { leaseMs, renewMs } = this.#scenario
    this.#resting = true
    this.#note('all faults are over, and the users rest')
    this.#faults.heal()
    const bound =
      (LONGEST_WORK_LEASES + LONGEST_COOLDOWN_LEASES + 2) * leaseMs + (LONGEST_DELAY_PERIODS + 4) * renewMs
    const end = this.#time.now() + bound
    const flaws = () => flawsOf(this.#scenario, this.#nodes, this.#backend)
    for (;;) {
      await this.#advance(renewMs)
      const found = flaws()
      if (found.length === 0 || this.#isBroken) return
      if (this.#time.now() < end) continue
      for (const { law, what } of found) {
        this.#violations.add(law, `${what}, ${Math.round(bound)} ms after the last fault`)
      }
      return
    }
  }

  async #closeAll(): Promise<void> {
    if (this.#isBroken) return
    const { leaseMs, renewMs } = this.#scenario
    const own = new Map(this.#nodes.map(({ id, running }) => [running?.simba.snapshot().session.id, id]))
    const closed = Promise.all(this.#nodes.map((node) => node.close(false)))
    let done = false
    void closed.then(() => {
      done = true
    })
    await this.#advance(2 * leaseMs + 4 * renewMs, () => done)
    if (!done) this.#violations.add('S10', 'a close() has not settled at the end')
    for (const { id } of this.#backend.contents().sessions) {
      const node = own.get(id)
      if (node !== undefined) this.#violations.add('S17', `the session of ${node} is left after its close()`)
    }
  }

  get #isBroken(): boolean {
    return this.#violations.list.length > 0
  }

  #advance(ms: number, isDone: () => boolean = () => false): Promise<void> {
    const watcher: Watcher = {
      afterEvent: () => this.#terms.check(),
      beforeTimeMoves: () => {
        this.#terms.checkTold()
        this.#promises.check()
      },
    }
    return this.#time.run(this.#time.now() + ms, watcher, () => this.#isBroken || isDone())
  }

  #note(text: string): void {
    this.#observer.note?.(this.#time.now(), text)
  }
}
