/**
 * One test's world: virtual time, a memory backend, and clients that are closed at the end. Whatever a test did, its end checks that the
 * clients leave nothing behind: no timer, no session, no unhandled rejection, no warning of the process.
 */
import {
  type Clock,
  type LeaseBackend,
  type Logger,
  Simba,
  type SimbaEvent,
  type SimbaOptions,
} from '@simba/core'
import { type FaultRule, MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { test as base, expect } from 'vitest'

/** With the default timing. */
export const LEASE = 15_000
export const RENEW = 5_000
/** How long a session is valid locally after a renewal. */
export const VALID = LEASE * 0.99 - 50

export interface Tracked<T> {
  status: 'pending' | 'fulfilled' | 'rejected'
  value?: T
  error?: unknown
  /** When it settled, in virtual time. */
  at?: number
}

export interface Logged {
  readonly level: 'warn' | 'error'
  readonly message: string
  readonly details: readonly unknown[]
}

export interface BackendCall {
  readonly at: number
  readonly on: string
  readonly client: string
  readonly name: string | undefined
}

type EventOf<T extends SimbaEvent['type']> = Extract<SimbaEvent, { readonly type: T }>

/** Counts the timers that are set on another clock and have not fired. */
class CountingClock implements Clock {
  readonly pending = new Set<symbol>()
  listeners = 0

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now()
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = Symbol()
    this.pending.add(timer)
    const cancel = this.clock.setTimer(() => {
      this.pending.delete(timer)
      callback()
    }, delayMs)
    return () => {
      this.pending.delete(timer)
      cancel()
    }
  }

  onJump(listener: () => void): () => void {
    this.listeners += 1
    const off = this.clock.onJump?.(listener)
    return () => {
      this.listeners -= 1
      off?.()
    }
  }
}

export class World {
  readonly time = new VirtualTime({ watchdogMs: 10_000 })
  readonly backend: MemoryLeaseBackend
  readonly calls: BackendCall[] = []
  readonly logged: Logged[] = []
  /** Set by tests in which a session cannot but be left to expire. */
  mayLeaveSessions = false
  private readonly clients = new Map<string, { simba: Simba; clock: CountingClock; events: SimbaEvent[] }>()

  constructor() {
    let seed = 1
    const random = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) | 0
      return (seed >>> 0) / 2 ** 32
    }
    this.backend = new MemoryLeaseBackend({ clock: this.time, random })
    this.record()
  }

  /** A client with a connection of its own, to which faults with `client: id` apply. Its events are collected. */
  client(id = 'a', options: Partial<SimbaOptions> = {}): Simba {
    const simba = this.silentClient(id, options)
    const events = this.clients.get(id)?.events ?? []
    simba.subscribe((event) => events.push(event))
    return simba
  }

  /** A client whose events nobody listens to. */
  silentClient(id = 'a', options: Partial<SimbaOptions> = {}): Simba {
    const clock = new CountingClock(options.clock ?? this.time)
    const backend: LeaseBackend = options.backend ?? this.backend.connect(id)
    const simba = new Simba({ seed: 1, logger: this.logger(), ...options, backend, clock })
    this.clients.set(id, { simba, clock, events: [] })
    return simba
  }

  /** A client made before. */
  get(id: string): Simba {
    const known = this.clients.get(id)
    if (known === undefined) throw new Error(`There is no client ${id}.`)
    return known.simba
  }

  logger(): Logger {
    return {
      warn: (message, ...details) => this.logged.push({ level: 'warn', message, details }),
      error: (message, ...details) => this.logged.push({ level: 'error', message, details }),
    }
  }

  events(id = 'a'): SimbaEvent[] {
    return this.clients.get(id)?.events ?? []
  }

  /** The events of one type that a client has published. */
  published<T extends SimbaEvent['type']>(type: T, id = 'a'): EventOf<T>[] {
    return this.events(id).filter((event): event is EventOf<T> => event.type === type)
  }

  /** How many timers a client has set. */
  timers(id = 'a'): number {
    return this.clients.get(id)?.clock.pending.size ?? 0
  }

  clockListeners(id = 'a'): number {
    return this.clients.get(id)?.clock.listeners ?? 0
  }

  fault(rule: FaultRule): () => void {
    return this.backend.faults.add(rule)
  }

  /** Ends all faults, but goes on recording calls. */
  heal(): void {
    this.backend.faults.clear()
    this.record()
  }

  /** Who holds the lease in the backend, as the session's id. */
  holderOf(name: string): string | undefined {
    return this.backend.contents().leases.find((lease) => lease.name === name)?.holder
  }

  callsOf(on: string, client?: string): BackendCall[] {
    return this.calls.filter((call) => call.on === on && (client === undefined || call.client === client))
  }

  /** Waits for something that needs next to no time. */
  soon<T>(promise: PromiseLike<T>): Promise<T> {
    return this.time.until(promise, { within: 1 })
  }

  /** Waits for the error that a promise rejects with. */
  async failure(promise: PromiseLike<unknown>, within = 1): Promise<unknown> {
    const tracked = this.track(promise)
    await this.time.until(Promise.allSettled([promise]), { within })
    if (tracked.status !== 'rejected') throw new Error('It was expected to reject, and did not.')
    return tracked.error
  }

  track<T>(promise: PromiseLike<T>): Tracked<T> {
    const tracked: Tracked<T> = { status: 'pending' }
    promise.then(
      (value) => Object.assign(tracked, { status: 'fulfilled', value, at: this.time.now() }),
      (error: unknown) => Object.assign(tracked, { status: 'rejected', error, at: this.time.now() }),
    )
    return tracked
  }

  async end(): Promise<void> {
    this.backend.faults.clear()
    this.backend.thaw()
    const closed = [...this.clients.values()].map(({ simba }) => simba.close())
    await this.time.until(Promise.all(closed), { within: 10 * LEASE })
    for (const [id, { clock }] of this.clients) {
      expect(clock.pending.size, `timers that client ${id} left behind`).toBe(0)
      expect(clock.listeners, `clock listeners that client ${id} left behind`).toBe(0)
    }
    if (!this.mayLeaveSessions) {
      const { sessions, leases, groups } = this.backend.contents()
      expect({ sessions, leases, groups }, 'what is left in the backend').toEqual({
        sessions: [],
        leases: [],
        groups: [],
      })
    }
    this.time.dispose()
  }

  private record(): void {
    this.backend.faults.add({
      decide: ({ on, client, name }) => {
        this.calls.push({ at: this.time.now(), on, client, name })
        return undefined
      },
    })
  }
}

/** What the process complains of while a test runs. */
class Complaints {
  readonly heard: unknown[] = []
  private readonly hear = (complaint: unknown) => this.heard.push(complaint)

  constructor() {
    process.on('unhandledRejection', this.hear)
    process.on('uncaughtExceptionMonitor', this.hear)
    process.on('warning', this.hear)
  }

  async end(): Promise<void> {
    // Rejections are found unhandled, and warnings emitted, when the microtasks of a turn are done.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', this.hear)
    process.off('uncaughtExceptionMonitor', this.hear)
    process.off('warning', this.hear)
  }
}

export const test = base.extend<{ readonly complaints: undefined; readonly world: World }>({
  complaints: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the pattern
    async ({}, use) => {
      const complaints = new Complaints()
      await use(undefined)
      await complaints.end()
      expect(complaints.heard, 'unhandled rejections, exceptions and warnings').toEqual([])
    },
    { auto: true },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the pattern
  world: async ({}, use) => {
    const world = new World()
    await use(world)
    await world.end()
  },
})
