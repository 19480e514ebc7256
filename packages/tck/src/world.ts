/** What one case works with: a backend, sessions, names that nobody else uses, and time. */
import { randomBytes } from 'node:crypto'
import type { LeaseBackend, SessionId } from '@simba/core'
import { type Call, callsWithin } from './call.js'
import type { Settings } from './options.js'
import { broken, type Rule, show } from './rules.js'
import { checkRemaining, SpecSession } from './session.js'
import { inParallel, type Several, several } from './several.js'

export interface OpenOptions {
  /** Which backend object to open it with; default the first. */
  readonly on?: LeaseBackend
  /** Default `{}`. */
  readonly metadata?: string
  /** Default: short or long, as the method says. */
  readonly leaseMs?: number
}

export class World {
  readonly settings: Settings
  readonly backend: LeaseBackend
  /** A second backend object on the same storage; the first where there is none. */
  readonly peer: LeaseBackend
  readonly call: Call
  readonly #prefix = `tck.${randomBytes(6).toString('hex')}`
  readonly #sessions: SpecSession[] = []
  #names = 0

  constructor(settings: Settings, backend: LeaseBackend, peer: LeaseBackend) {
    this.settings = settings
    this.backend = backend
    this.peer = peer
    this.call = callsWithin(settings.callTimeoutMs)
  }

  /** A lease or group name that nobody has ever used. */
  name(): string {
    return `${this.#prefix}.${++this.#names}`
  }

  names<N extends number>(count: N): Several<string, N> {
    return several(count, () => this.name())
  }

  /** A session that lives until the end of the case. */
  open(options: OpenOptions = {}): Promise<SpecSession> {
    return this.#open(options.leaseMs ?? this.settings.longLeaseMs, options)
  }

  /** A session that expires during the case unless it is renewed. */
  openShort(options: OpenOptions = {}): Promise<SpecSession> {
    return this.#open(options.leaseMs ?? this.settings.leaseMs, options)
  }

  /** Sessions that live until the end of the case, on both backend objects in turn. */
  openMany<N extends number>(count: N): Promise<Several<SpecSession, N>> {
    return inParallel(count, (i) => this.open({ on: i % 2 === 0 ? this.backend : this.peer }))
  }

  async members(group: string, on: LeaseBackend = this.backend): Promise<readonly SessionId[]> {
    return this.call(`members of "${group}"`, (call) => on.members(group, call))
  }

  /** Fails unless the group's members are these, each listed once. */
  async expectMembers(
    group: string,
    expected: readonly SpecSession[],
    rule: Rule,
    when: string,
  ): Promise<void> {
    for (const backend of new Set([this.backend, this.peer])) {
      const seen = [...(await this.members(group, backend))].sort()
      const wanted = expected.map(({ id }) => id).sort()
      if (show(seen) === show(wanted)) continue
      for (const session of expected)
        session.mustBeInTime(`${when}, members of "${group}" gave ${show(seen)}`)
      broken(
        rule,
        `${when}, members of "${group}" gave ${show(seen)}; ${show(wanted)} was to be expected`,
        'list each live session that has joined and not left, once',
      )
    }
  }

  now(): number {
    return this.settings.time.now()
  }

  async advance(ms: number): Promise<void> {
    if (ms > 0) await this.settings.time.advance(ms)
  }

  advanceTo(instant: number): Promise<void> {
    return this.advance(instant - this.now())
  }

  /** Lets so much time pass that the session has expired. */
  expire(session: SpecSession): Promise<void> {
    return this.advanceTo(session.deadBy + 1)
  }

  /** Lets time pass in small steps until the condition holds; gives whether it came to hold within so many ms. */
  async eventually(ms: number, condition: () => boolean | Promise<boolean>): Promise<boolean> {
    const until = this.now() + ms
    for (;;) {
      if (await condition()) return true
      if (this.now() >= until) return false
      await this.advance(10)
    }
  }

  /** Ends the sessions, so that a storage in shared use is left as it was. */
  async tidy(): Promise<void> {
    await Promise.allSettled(this.#sessions.map((session) => session.closeSession()))
  }

  async #open(leaseMs: number, { on = this.backend, metadata = '{}' }: OpenOptions): Promise<SpecSession> {
    const sentAt = this.now()
    const opened = await this.call('openSession', (call) => on.openSession({ leaseMs, metadata }, call))
    const told = { sentAt, answeredAt: this.now(), remainingMs: opened.remainingMs }
    if (typeof opened.id !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(opened.id)) {
      broken(
        'session id',
        `openSession gave the id ${show(opened.id)}`,
        'give a text of 1 to 128 printable ASCII characters without spaces, such as 128 random bits in hex',
      )
    }
    checkRemaining('openSession', leaseMs, opened.remainingMs)
    const session = new SpecSession({
      session: { id: opened.id, leaseMs },
      backend: on,
      settings: this.settings,
      call: this.call,
      told,
    })
    this.#sessions.push(session)
    return session
  }
}
