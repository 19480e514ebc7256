/** The work of the users: it behaves well or badly, and writes to a fenced resource all the time. */
import type { Term } from '@simba/core'
import type { SimulatedProcess } from './process.js'
import type { Random } from './random.js'
import type { Scenario } from './scenario.js'
import type { TermWatch, WatchedTerm } from './term-watch.js'

const GOOD_WORK = ['prompt', 'prompt', 'returns'] as const
const BAD_WORK = ['late', 'deaf', 'throws', 'stops itself', 'steps down'] as const
type WorkStyle = (typeof GOOD_WORK)[number] | (typeof BAD_WORK)[number]

/** The longest that work goes on after the end of its term, in lease durations. */
export const LONGEST_WORK_LEASES = 3

export interface WorkOptions {
  readonly scenario: Scenario
  readonly process: SimulatedProcess
  readonly random: Random
  readonly terms: TermWatch
  write(name: string, token: bigint): void
}

/** What work can do to what runs it. */
export interface Runner {
  stop(): Promise<void>
  stepDown(): Promise<void>
}

export class SimulatedWork {
  readonly #options: WorkOptions

  constructor(options: WorkOptions) {
    this.#options = options
  }

  /** The work of one start, all runs of which behave alike. */
  begin(runner: Runner): (term: Term) => Promise<void> {
    const { random, scenario } = this.#options
    const style: WorkStyle =
      scenario.uses.has('bad work') && random.chance(0.6) ? random.pick(BAD_WORK) : random.pick(GOOD_WORK)
    return (term) => this.during(term, () => this.#perform(style, term, runner))
  }

  /** Something that must have exited before the lease of the term is given back. */
  async during<T>(term: Term, work: () => Promise<T>): Promise<T> {
    const watched = this.see(term)
    watched.working += 1
    try {
      return await work()
    } finally {
      watched.working -= 1
    }
  }

  see(term: Term): WatchedTerm {
    return this.#options.terms.see(this.#options.process, term)
  }

  /** Looks first, as one should; the write may arrive late all the same. */
  write(term: Term): void {
    if (term.isValid) this.#options.write(term.name, term.token)
  }

  #writeUnasked(term: Term): void {
    this.#options.write(term.name, term.token)
  }

  async #perform(style: WorkStyle, term: Term, runner: Runner): Promise<void> {
    const { random, process, scenario } = this.#options
    const { leaseMs } = scenario
    const nap = () => process.sleep(random.between(0, leaseMs / 2))
    this.write(term)
    switch (style) {
      case 'returns':
        return
      case 'prompt':
        while (term.isValid) {
          await Promise.race([nap(), term.revoked])
          this.write(term)
        }
        return
      case 'late':
        await term.revoked
        await process.sleep(random.between(0, 1.5 * leaseMs))
        this.#writeUnasked(term)
        return
      case 'deaf':
        await process.sleep(random.between(0, LONGEST_WORK_LEASES * leaseMs))
        this.#writeUnasked(term)
        return
      case 'throws':
        await nap()
        throw new Error('the work failed')
      case 'stops itself':
        await nap()
        await runner.stop()
        await nap()
        return
      case 'steps down':
        await nap()
        await runner.stepDown()
        return
      default:
        unreachable(style)
    }
  }
}

function unreachable(style: never): never {
  throw new Error(`Impossible: ${String(style)}`)
}
