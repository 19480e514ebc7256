import { ConfigError, type SessionId } from '@simba/core'

/** What a fault can concern: each method of the backend, and the delivery of a hint. */
export type Operation =
  | 'openSession'
  | 'keepAlive'
  | 'closeSession'
  | 'acquire'
  | 'release'
  | 'join'
  | 'leave'
  | 'members'
  | 'inspect'
  | 'hint'

/** One call, or one hint on its way to one subscriber, as faults see it. */
export interface FaultTarget {
  readonly on: Operation
  /** The connection that it came by: as given to `connect`, or `''` for the backend itself. */
  readonly client: string
  /** Absent for `openSession`, `members`, `inspect` and hints, which belong to no session. */
  readonly session?: SessionId
  /** The lease or group; absent where there is none. */
  readonly name?: string
}

/**
 * What goes wrong with one call. For a hint, only `delay-request`, `lose-request` and `repeat-request` mean
 * anything.
 *
 * A call that its caller aborts rejects at once with `signal.reason`, but a request that is on its way or
 * waits at a frozen backend **still takes effect later**: a message on a network cannot be recalled. With
 * `recall`, a delayed request is withdrawn by the abort, as by a driver that has not sent it yet.
 */
export type Fault =
  /** The request reaches the backend `ms` later, and takes effect then. */
  | { readonly kind: 'delay-request'; readonly ms: number; readonly recall?: boolean }
  /** The call takes effect at once and is answered `ms` later. */
  | { readonly kind: 'delay-reply'; readonly ms: number }
  /** The call never takes effect and is never answered: it hangs until its signal aborts. */
  | { readonly kind: 'lose-request' }
  /** The call takes effect and is never answered: it hangs until its signal aborts. */
  | { readonly kind: 'lose-reply' }
  /** The request reaches the backend a second time `ms` after the first; the second answer is dropped. */
  | { readonly kind: 'repeat-request'; readonly ms: number }
  /** The call rejects and takes no effect. Default error: a `BackendError`. */
  | { readonly kind: 'fail-before'; readonly error?: Error }
  /** The call takes effect and rejects. Default error: a `BackendError`. */
  | { readonly kind: 'fail-after'; readonly error?: Error }

const OPERATIONS: ReadonlySet<string> = new Set<Operation>([
  'openSession',
  'keepAlive',
  'closeSession',
  'acquire',
  'release',
  'join',
  'leave',
  'members',
  'inspect',
  'hint',
])

const KINDS: ReadonlySet<string> = new Set<Fault['kind']>([
  'delay-request',
  'delay-reply',
  'lose-request',
  'lose-reply',
  'repeat-request',
  'fail-before',
  'fail-after',
])

/**
 * Which calls and hints a fault concerns: those that agree with everything given here; all of them if nothing
 * is.
 */
export interface FaultMatch {
  readonly on?: Operation | readonly Operation[]
  readonly client?: string
  readonly session?: SessionId
  readonly name?: string
  /** Ends the fault once it has met so many calls. Default: it stays until it is taken back. */
  readonly times?: number
}

/**
 * A fault and the calls that it concerns; or a function that is asked at each of them, for a seeded
 * simulation or to record calls.
 */
export type FaultRule = FaultMatch &
  (Fault | { readonly decide: (target: FaultTarget) => Fault | readonly Fault[] | undefined })

/**
 * What is to go wrong with calls from now on. All faults that meet one call act together: delays add up, and
 * where a request or reply is lost, nothing else is seen of it.
 */
export class Faults {
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>()

  /**
   * Adds a fault, and returns the way to take it back.
   *
   * @throws ConfigError if there is no such kind of fault, `on` names no call, `ms` is not a number of 0 or
   *   more, or `times` not one of 1 or more.
   */
  add(rule: FaultRule): () => void {
    const { on = [], times = Infinity } = rule
    if (!('decide' in rule)) check(rule)
    const unknown = (typeof on === 'string' ? [on] : on).find((operation) => !OPERATIONS.has(operation))
    if (unknown !== undefined) {
      throw new ConfigError(`Fault: on is ${unknown}; give one or more of: ${[...OPERATIONS].join(', ')}.`)
    }
    if (!(times >= 1)) throw new ConfigError(`Fault: times is ${times}; give 1 or more, or leave it out.`)
    const entry = { rule, left: times }
    this.#rules.add(entry)
    return () => {
      this.#rules.delete(entry)
    }
  }

  /** Takes all faults back; calls that have met theirs already are not mended. */
  clear(): void {
    this.#rules.clear()
  }

  /** What goes wrong with this call; counts it for each rule that agrees with it. */
  meet(target: FaultTarget): readonly Fault[] {
    if (this.#rules.size === 0) return none
    const faults: Fault[] = []
    for (const entry of this.#rules) {
      if (!matches(entry.rule, target)) continue
      const fault = 'decide' in entry.rule ? entry.rule.decide(target) : entry.rule
      if (fault === undefined) continue
      if (--entry.left <= 0) this.#rules.delete(entry)
      for (const one of isList(fault) ? fault : [fault]) {
        check(one)
        faults.push(one)
      }
    }
    return faults
  }
}

function check(fault: Fault): void {
  if (!KINDS.has(fault.kind)) {
    throw new ConfigError(`Fault: kind is ${fault.kind}; give one of: ${[...KINDS].join(', ')}.`)
  }
  if ('ms' in fault && !(fault.ms >= 0 && fault.ms < Infinity)) {
    throw new ConfigError(`Fault ${fault.kind}: ms is ${fault.ms}; give 0 or more ms.`)
  }
}

const none: readonly Fault[] = []

function matches(match: FaultMatch, target: FaultTarget): boolean {
  const { on, client, session, name } = match
  return (
    (on === undefined || (typeof on === 'string' ? on === target.on : on.includes(target.on))) &&
    (client === undefined || client === target.client) &&
    (session === undefined || session === target.session) &&
    (name === undefined || name === target.name)
  )
}

function isList(fault: Fault | readonly Fault[]): fault is readonly Fault[] {
  return Array.isArray(fault)
}
