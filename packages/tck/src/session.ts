/** One session under test: its calls, and what it was told about its life. */
import type {
  AcquireReply,
  JoinReply,
  KeepAliveReply,
  LeaseBackend,
  OwnedLease,
  Session,
  SessionId,
} from '@simba/core'
import type { Call } from './call.js'
import { NoVerdict } from './no-verdict.js'
import type { Settings } from './options.js'
import { broken, must, type Rule, show } from './rules.js'

/** What a backend said about a session's life, and when. */
interface Told {
  readonly sentAt: number
  readonly answeredAt: number
  readonly remainingMs: number
}

export interface SpecSessionParts {
  readonly session: Session
  readonly backend: LeaseBackend
  readonly settings: Settings
  readonly call: Call
  readonly told: Told
}

/**
 * Methods with the names of the SPI call it and give its answer. The others fail unless the answer is the one that they are named
 * after.
 */
export class SpecSession {
  readonly session: Session
  readonly backend: LeaseBackend
  readonly #settings: Settings
  readonly #call: Call
  #told: Told

  constructor({ session, backend, settings, call, told }: SpecSessionParts) {
    this.session = session
    this.backend = backend
    this.#settings = settings
    this.#call = call
    this.#told = told
  }

  get id(): SessionId {
    return this.session.id
  }

  get remainingMs(): number {
    return this.#told.remainingMs
  }

  /** Until then the session must live: as told, counted from before the request was sent. */
  get livesUntil(): number {
    return this.#told.sentAt + this.#told.remainingMs - this.#settings.earlyMs
  }

  /** The best guess at the moment of expiry. */
  get endsAt(): number {
    return (this.#told.sentAt + this.#told.answeredAt) / 2 + this.#told.remainingMs
  }

  /** From then on the session must have expired, unless it was renewed since. */
  get deadBy(): number {
    return this.#told.answeredAt + this.session.leaseMs + this.#settings.lateMs
  }

  async keepAlive(): Promise<KeepAliveReply> {
    const sentAt = this.#settings.time.now()
    const reply = await this.#call('keepAlive', (call) => this.backend.keepAlive(this.session, call))
    if (reply.kind === 'renewed') {
      checkRemaining('keepAlive', this.session.leaseMs, reply.remainingMs)
      this.#told = { sentAt, answeredAt: this.#settings.time.now(), remainingMs: reply.remainingMs }
    }
    return reply
  }

  acquire(name: string): Promise<AcquireReply> {
    return this.#call(`acquire of "${name}"`, (call) => this.backend.acquire(this.session, name, call))
  }

  release(name: string, token: bigint): Promise<void> {
    return this.#call(`release of "${name}"`, (call) => this.backend.release(this.session, name, token, call))
  }

  join(group: string): Promise<JoinReply> {
    return this.#call(`join of "${group}"`, (call) => this.backend.join(this.session, group, call))
  }

  leave(group: string): Promise<void> {
    return this.#call(`leave of "${group}"`, (call) => this.backend.leave(this.session, group, call))
  }

  closeSession(): Promise<void> {
    return this.#call('closeSession', (call) => this.backend.closeSession(this.session, call))
  }

  /** Renews a session that must be alive; gives what it owns. */
  async renew(rule: Rule = 'B1', when = 'while it was alive'): Promise<readonly OwnedLease[]> {
    const reply = await this.keepAlive()
    if (reply.kind !== 'renewed') this.#wronglyExpired('keepAlive', rule, when)
    return reply.owned
  }

  /** Takes a lease that must be free. */
  async take(name: string, rule: Rule = 'one owner', when = 'while it was free'): Promise<bigint> {
    const reply = await this.acquire(name)
    if (reply.kind === 'expired') this.#wronglyExpired(`acquire of "${name}"`, 'B1', when)
    if (reply.kind === 'held') {
      broken(
        rule,
        `acquire of "${name}" ${when} answered ${show(reply)}`,
        'answer "granted" where no live session owns the lease',
      )
    }
    must(
      typeof reply.token === 'bigint' && reply.token > 0n,
      'B4',
      `acquire of "${name}" gave the token ${show(reply.token)} (${typeof reply.token})`,
      'give a bigint above 0',
    )
    return reply.token
  }

  /** Tries for a lease that another live session must have. */
  async refused(name: string, owner: SpecSession, rule: Rule, when: string): Promise<void> {
    const reply = await this.acquire(name)
    if (reply.kind === 'expired') this.#wronglyExpired(`acquire of "${name}"`, 'B1', when)
    if (reply.kind === 'granted')
      owner.mustBeInTime(`acquire of "${name}" by another session ${when} was granted`)
    must(
      reply.kind === 'held',
      rule,
      `acquire of "${name}" by another session ${when} answered ${show(reply)}`,
      'answer "held" as long as the session that owns the lease lives',
    )
    must(
      reply.holder === undefined || reply.holder === owner.id,
      'one owner',
      `acquire of "${name}" said that ${show(reply.holder)} holds it, but ${show(owner.id)} does`,
      'name the session that owns the lease, or none',
    )
  }

  /** Joins a group with a session that must be alive. */
  async enter(group: string, when = 'while it was alive'): Promise<void> {
    const reply = await this.join(group)
    if (reply.kind !== 'joined') this.#wronglyExpired(`join of "${group}"`, 'B1', when)
  }

  /** Fails unless the session is expired for all calls that tell. */
  async staysExpired(rule: Rule, when: string, lease: string, group: string): Promise<void> {
    const answers = [
      ['keepAlive', await this.keepAlive()],
      ['acquire', await this.acquire(lease)],
      ['join', await this.join(group)],
      ['keepAlive after these', await this.keepAlive()],
    ] as const
    for (const [method, reply] of answers) {
      must(
        reply.kind === 'expired',
        rule,
        `${when}, ${method} answered ${show(reply)}`,
        'answer "expired", and let the call change nothing',
      )
    }
  }

  /** @throws NoVerdict if the session may be over by now, so that what was seen of it proves nothing. */
  mustBeInTime(seen: string): void {
    const lateBy = this.#settings.time.now() - this.livesUntil
    if (lateBy > 0) throw new NoVerdict(seen, lateBy)
  }

  #wronglyExpired(what: string, rule: Rule, when: string): never {
    this.mustBeInTime(`${what} ${when} answered "expired"`)
    const leftMs = this.livesUntil - this.#settings.time.now()
    broken(
      rule,
      `${what} ${when} answered "expired", ${Math.round(leftMs)} ms before the session's time was over`,
      'let a session live for at least the remaining time that it was told',
    )
  }
}

export function checkRemaining(method: string, leaseMs: number, remainingMs: number): void {
  must(
    typeof remainingMs === 'number' && remainingMs > 0 && remainingMs <= leaseMs,
    'remaining',
    `${method} of a session with a lease duration of ${leaseMs} ms said that ${show(remainingMs)} ms remain`,
    'give a number of ms above 0 and at most the lease duration',
  )
}
