/** The programs of one process: they use the public API as users do, at random, well and badly. */
import { type LeaderTask, type LockTerm, Schedule, type Simba, type Term } from '@simba/core'
import type { Violations } from './laws.js'
import type { SimulatedProcess } from './process.js'
import type { PromiseWatch } from './promise-watch.js'
import type { Random } from './random.js'
import type { Scenario } from './scenario.js'
import type { TermWatch } from './term-watch.js'
import { SimulatedWork } from './work.js'

/** The longest cooldown, in lease durations. */
export const LONGEST_COOLDOWN_LEASES = 1.5

export interface UserOptions {
  readonly scenario: Scenario
  readonly process: SimulatedProcess
  readonly simba: Simba
  readonly random: Random
  readonly terms: TermWatch
  readonly promises: PromiseWatch
  readonly violations: Violations
  write(name: string, token: bigint): void
  /** The process has asked not to be elected for so long. */
  coolsDown(name: string, ms: number): void
  readonly note: ((text: string) => void) | undefined
}

interface Started {
  readonly stop: () => Promise<void>
  stopped: boolean
  /** The term of the last `onElected` without an `onRevoked`. */
  elected?: Term | undefined
}

export class User {
  readonly #options: UserOptions
  readonly #work: SimulatedWork
  readonly #elections = new Map<string, Started>()
  readonly #groups = new Map<string, Started>()
  closed = false

  constructor(options: UserOptions) {
    this.#options = options
    this.#work = new SimulatedWork(options)
  }

  /** Begins with what a process starts when it comes up. */
  boot(): void {
    const { scenario, random } = this.#options
    for (const name of scenario.elections) {
      if (scenario.uses.has('elections') && random.chance(0.8)) this.#start(name)
    }
    for (const { name } of scenario.groups) if (random.chance(0.8)) this.#toggleGroup(name)
  }

  get runsGroups(): ReadonlySet<string> {
    return new Set(this.#groups.keys())
  }

  /** Does something. */
  act(): void {
    if (this.closed) return
    const { scenario, random } = this.#options
    const name = random.pick(scenario.elections)
    const { uses, leaseMs } = scenario
    const dice = random.next()
    if (dice < 0.25) {
      if (uses.has('churn') || !this.#elections.has(name)) this.#toggle(name)
    } else if (dice < 0.4) {
      if (uses.has('step-downs'))
        void this.#stepDown(name, random.between(0, LONGEST_COOLDOWN_LEASES * leaseMs))
    } else if (dice < 0.8) {
      if (scenario.locks.length > 0) void this.#lock(random.pick(scenario.locks))
    } else if (dice < 0.9) {
      const [group] = scenario.groups
      if (group !== undefined && uses.has('churn')) this.#toggleGroup(group.name)
    } else {
      void this.#options.simba.ready().catch(() => {})
    }
  }

  /** Ends all, and settles when that is done. */
  close(force: boolean): Promise<void> {
    const { simba, process, promises, terms, scenario } = this.#options
    this.closed = true
    this.#options.note?.(`${process.id} closes${force ? ' with force' : ''}`)
    const own = terms.of(process)
    const works = own.some(({ working }) => working > 0)
    if (force) for (const watched of own) watched.forced = true
    const bound = scenario.renewMs + (works && !force ? scenario.leaseMs : 0)
    return promises.watch(process, 'close()', bound, simba.close({ force }))
  }

  #toggle(name: string): void {
    const started = this.#elections.get(name)
    if (started === undefined) this.#start(name)
    else this.#stop(name, started)
  }

  #start(name: string): void {
    const { random, process } = this.#options
    const as = random.pick(['election', 'task', 'schedule', 'terms'] as const)
    this.#options.note?.(`${process.id} starts ${name} as ${as}`)
    process.cooldowns.delete(name)
    const begun = this.#begin(name, as)
    if (begun === undefined) return
    this.#elections.set(name, begun)
  }

  #begin(name: string, as: 'election' | 'task' | 'schedule' | 'terms'): Started | undefined {
    const { simba, scenario, random } = this.#options
    const election = simba.election(name)
    try {
      switch (as) {
        case 'election':
          return this.#listen(name)
        case 'task': {
          const task: LeaderTask = election.runWhileLeader(this.#workOf(name, () => task.stop()))
          return { stop: () => task.stop(), stopped: false }
        }
        case 'schedule': {
          const period = Math.ceil(scenario.leaseMs * random.between(0.1, 0.6))
          const schedule = random.chance(0.5) ? Schedule.fixedRate(period) : Schedule.fixedDelay(period)
          const task: LeaderTask = election.schedule(
            schedule,
            this.#workOf(name, () => task.stop()),
          )
          return { stop: () => task.stop(), stopped: false }
        }
        case 'terms': {
          void this.#iterate(name).catch(() => {})
          return { stop: () => election.stop(), stopped: false }
        }
        default:
          return unreachable(as)
      }
    } catch {
      return undefined // an earlier start is still stopping
    }
  }

  #listen(name: string): Started {
    const { simba, violations, process, terms } = this.#options
    const election = simba.election(name)
    const started: Started = { stop: () => election.stop(), stopped: false }
    election.start({
      onElected: (term: Term) => {
        terms.see(process, term)
        if (started.elected !== undefined)
          violations.add('S8', `${process.id}: onElected of ${name} twice in a row`)
        started.elected = term
      },
      onRevoked: (term: Term) => {
        if (started.elected !== term)
          violations.add('S8', `${process.id}: onRevoked of ${name} for another term than onElected`)
        if (term.isValid) violations.add('S8', `${process.id}: onRevoked of ${name} with a valid term`)
        if (started.stopped) violations.add('S8', `${process.id}: onRevoked of ${name} after stop() settled`)
        started.elected = undefined
      },
    })
    return started
  }

  async #iterate(name: string): Promise<void> {
    const { simba, random } = this.#options
    const work = this.#workOf(name, async () => {})
    for await (const term of simba.election(name).terms()) {
      await work(term).catch(() => {})
      if (random.chance(0.2)) break
    }
    this.#elections.delete(name)
  }

  #stop(name: string, started: Started): void {
    const { process, promises, scenario } = this.#options
    this.#options.note?.(`${process.id} stops ${name}`)
    this.#elections.delete(name)
    const stopping = promises.watch(
      process,
      `stop() of ${name}`,
      scenario.leaseMs + 2 * scenario.renewMs,
      started.stop(),
    )
    void stopping.then(() => {
      started.stopped = true
      if (started.elected !== undefined) {
        this.#options.violations.add('S8', `${process.id}: stop() of ${name} settled without onRevoked`)
      }
    })
  }

  #stepDown(name: string, cooldownMs: number): Promise<void> {
    const { simba, process, promises, scenario } = this.#options
    this.#options.note?.(`${process.id} steps down from ${name} for ${Math.round(cooldownMs)} ms`)
    const cooldown = Math.round(cooldownMs)
    this.#options.coolsDown(name, cooldown)
    const bound = scenario.leaseMs + 2 * scenario.renewMs
    return promises.watch(process, `stepDown() of ${name}`, bound, simba.election(name).stepDown(cooldown))
  }

  async #lock(name: string): Promise<void> {
    const { simba, process, random, promises, scenario } = this.#options
    const lock = simba.lock(name)
    const timeout = Math.ceil(random.between(0, 2 * scenario.leaseMs))
    const holdMs = random.between(0, scenario.leaseMs)
    const dice = random.next()
    try {
      if (dice < 0.3) {
        const held = await promises.watch(
          process,
          `tryAcquire() of ${name}`,
          5 * scenario.renewMs,
          lock.tryAcquire(),
        )
        if (held !== undefined) await this.#hold(held, holdMs)
      } else if (dice < 0.6) {
        const aborter = new AbortController()
        if (random.chance(0.3)) {
          const reason = new Error('the user gave up')
          void process.sleep(random.between(0, timeout)).then(() => aborter.abort(reason))
        }
        const { signal } = aborter
        const acquired = lock.acquire({ timeout, signal })
        await this.#hold(await promises.watch(process, `acquire() of ${name}`, timeout, acquired), holdMs)
      } else {
        const use = async (term: Term) => {
          await process.sleep(holdMs)
          this.#work.write(term)
        }
        await lock.withLock((term) => this.#work.during(term, () => use(term)), { timeout })
      }
    } catch {
      // Timed out, refused, closed, or ended meanwhile: all in order for a lock.
    }
  }

  async #hold(held: LockTerm, holdMs: number): Promise<void> {
    const { process, promises, scenario } = this.#options
    this.#work.see(held)
    this.#work.write(held)
    await process.sleep(holdMs)
    this.#work.write(held)
    await promises.watch(process, `release() of ${held.name}`, scenario.renewMs, held.release())
  }

  /** Work for one start of a name, all runs of which behave alike. */
  #workOf(name: string, stop: () => Promise<void>): (term: Term) => Promise<void> {
    const { random, scenario } = this.#options
    return this.#work.begin({
      stop: () => {
        this.#elections.delete(name)
        return stop()
      },
      stepDown: async () => {
        if (this.#elections.has(name)) await this.#stepDown(name, random.between(0, scenario.leaseMs))
      },
    })
  }

  #toggleGroup(name: string): void {
    const { simba, scenario, process, promises, random } = this.#options
    const group = scenario.groups.find((candidate) => candidate.name === name)
    if (group === undefined) return
    const started = this.#groups.get(name)
    this.#options.note?.(`${process.id} ${started === undefined ? 'joins' : 'leaves'} ${name}`)
    if (started === undefined) {
      try {
        const handle = simba.group(name, { partitions: group.partitions })
        const work = this.#workOf(name, async () => {})
        const task = random.chance(0.7)
          ? handle.runWhileLeader((term) => work(term))
          : handle.schedule(Schedule.fixedRate(Math.ceil(scenario.leaseMs / 3)), (term) => work(term))
        this.#groups.set(name, { stop: () => task.stop(), stopped: false })
      } catch {
        // An earlier stop has not settled.
      }
      return
    }
    this.#groups.delete(name)
    const bound = scenario.leaseMs + 3 * scenario.renewMs
    void promises.watch(process, `stop() of group ${name}`, bound, started.stop())
  }
}

function unreachable(value: never): never {
  throw new Error(`Impossible: ${String(value)}`)
}
