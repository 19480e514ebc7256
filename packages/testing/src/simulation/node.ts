/** A machine of the world, on which one process after another runs. */
import { type Clock, Simba, type SimbaEvent } from '@simba/core'
import type { MemoryLeaseBackend } from '../memory-backend.js'
import { CallWatch } from './call-watch.js'
import type { Violations } from './laws.js'
import type { Network } from './network.js'
import { SimulatedProcess } from './process.js'
import type { PromiseWatch } from './promise-watch.js'
import type { Random } from './random.js'
import type { Scenario } from './scenario.js'
import type { TermWatch } from './term-watch.js'
import { User } from './user.js'
import { Wire } from './wire.js'
import type { WorldTime } from './world-time.js'

export interface NodeOptions {
  readonly scenario: Scenario
  readonly time: WorldTime
  readonly backend: MemoryLeaseBackend
  readonly network: Network
  readonly random: Random
  readonly terms: TermWatch
  readonly promises: PromiseWatch
  readonly violations: Violations
  write(process: SimulatedProcess, name: string, token: bigint): void
  /** Absent if nobody wants to know. */
  readonly note: ((text: string) => void) | undefined
  /** A client is about to be made from this seed. */
  onClient(node: string, seed: number): void
}

/** What runs on a node now. */
export interface Running {
  readonly process: SimulatedProcess
  readonly simba: Simba
  readonly user: User
  readonly calls: CallWatch
  /** Native timers of the client. */
  timers: number
  /** Settles once the client has closed. */
  closing: Promise<void> | undefined
}

export class Node {
  readonly id: string
  readonly #options: NodeOptions
  readonly #rate: number
  #boots = 0
  running: Running | undefined

  constructor(id: string, options: NodeOptions) {
    this.id = id
    this.#options = options
    const { driftPerClock } = options.scenario
    this.#rate = 1 + options.random.between(-driftPerClock, driftPerClock)
  }

  /** Starts a process, if none runs. */
  boot(): void {
    if (this.running !== undefined) return
    const { scenario, time, backend, network, terms, promises, violations } = this.#options
    const random = this.#options.random.fork(`boot ${++this.#boots}`)
    const sleepy = scenario.premise === 'unnoticed-sleep'
    const process = new SimulatedProcess(this.id, time, random.fork('process'), {
      rate: this.#rate,
      offsetMs: random.between(0, 1e6),
      noticesSleep: !sleepy,
    })
    const calls = new CallWatch(process, terms, violations)
    const wire = new Wire({
      process,
      time,
      backend: backend.connect(this.id),
      releasedToken: (name, token) =>
        scenario.premise === 'token-ignored' ? (tokenOf(backend, name) ?? token) : token,
      fate: (target, op) => network.fate(target, op),
      onSent: (sent) => calls.sent(sent),
    })
    const seed = random.whole(0, 2 ** 31 - 1)
    this.#options.onClient(this.id, seed)
    const simba = new Simba({
      backend: wire,
      clock: this.#countingClock(process),
      leaseDuration: scenario.leaseMs,
      renewInterval: scenario.renewMs,
      retryJitter: scenario.retryJitterMs,
      margin: scenario.marginMs,
      minBackoff: Math.min(100, scenario.renewMs / 4),
      seed,
      logger: { warn() {}, error() {} },
    })
    simba.subscribe((event) => this.#onEvent(process, event))
    const user = new User({
      scenario,
      process,
      simba,
      random: random.fork('user'),
      terms,
      promises,
      violations,
      write: (name, token) => this.#options.write(process, name, token),
      coolsDown: (name, ms) => {
        const until = time.now() + ms / process.clock.rate
        process.cooldowns.set(name, Math.max(until, process.cooldowns.get(name) ?? 0))
      },
      note: this.#options.note,
    })
    this.running = { process, simba, user, calls, timers: 0, closing: undefined }
    this.#options.note?.(`${this.id} boots`)
    user.boot()
  }

  crash(): void {
    const { running } = this
    if (running === undefined) return
    this.#options.note?.(`${this.id} crashes`)
    running.process.die()
    this.#options.terms.gone(running.process)
    this.running = undefined
  }

  /** Closes the client; the process ends once that has settled. */
  async close(force: boolean): Promise<void> {
    const { running } = this
    if (running === undefined) return
    running.closing ??= this.#close(running, force)
    await running.closing
  }

  async #close(running: Running, force: boolean): Promise<void> {
    await running.user.close(force)
    running.calls.closed = true
    if (running.timers > 0) {
      this.#options.violations.add(
        'S17',
        `${this.id} has ${running.timers} timers after its close() has settled`,
      )
    }
    this.#options.note?.(`${this.id} has closed`)
    if (this.running !== running) return
    running.process.die()
    this.#options.terms.gone(running.process)
    this.running = undefined
  }

  #countingClock(process: SimulatedProcess): Clock {
    const { clock } = process.clock
    const { violations } = this.#options
    return {
      now: () => clock.now(),
      onJump: (listener) => clock.onJump(listener),
      setTimer: (callback, delayMs) => {
        const { running } = this
        if (running === undefined) return clock.setTimer(callback, delayMs)
        running.timers += 1
        if (running.timers > 1)
          violations.add('S14', `${this.id} has ${running.timers} native timers at once`)
        let over = false
        const end = () => {
          if (over) return
          over = true
          running.timers -= 1
        }
        const cancel = clock.setTimer(() => {
          end()
          callback()
        }, delayMs)
        return () => {
          end()
          cancel()
        }
      },
    }
  }

  #onEvent(process: SimulatedProcess, event: SimbaEvent): void {
    const { terms, note } = this.#options
    note?.(`${this.id} ${describe(event)}`)
    if (event.type !== 'Elected') return
    terms.elected(process, event.name, event.token)
    const { simba } = this.running ?? {}
    const { name } = event
    queueMicrotask(() => {
      // Whoever asks the election sees the term before any callback has run.
      const term = name.startsWith('lock.') ? undefined : simba?.election(name).term
      if (term !== undefined) terms.see(process, term)
    })
  }
}

function tokenOf(backend: MemoryLeaseBackend, name: string): bigint | undefined {
  return backend.contents().leases.find((lease) => lease.name === name)?.token
}

function describe(event: SimbaEvent): string {
  const parts = Object.entries(event).flatMap(([key, value]) => {
    if (key === 'type' || value === undefined) return []
    if (key === 'error')
      return [`${key}=${value instanceof Error || hasMessage(value) ? value.message : String(value)}`]
    return [`${key}=${typeof value === 'number' ? Math.round(value) : String(value)}`]
  })
  return [event.type, ...parts].join(' ')
}

function hasMessage(value: unknown): value is { readonly message: string } {
  return typeof value === 'object' && value !== null && 'message' in value
}
