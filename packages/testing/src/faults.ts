import { BackendError, ConfigError, type SessionId } from '@simba/core'

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
export interface Operated {
  readonly on: Operation
  /** The connection that it came by: as given to `connect`, or `''` for the backend itself. */
  readonly client: string
  /** Absent for `openSession`, `members`, `inspect` and hints, which belong to no session. */
  readonly session?: SessionId
  /** The lease or group; absent where there is none. */
  readonly name?: string
}

/**
 * What goes wrong with one call. For a hint, only `delay-request`, `lose-request` and `repeat-request` mean anything.
 *
 * A call that its caller aborts rejects at once with `signal.reason`, but a request that is on its way or waits at a frozen backend **still takes effect
 * later**: a message on a network cannot be recalled. With `recall`, a delayed request is withdrawn by the abort, as by a driver that has not sent it yet.
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

/** Which calls a fault concerns: those that agree with everything given here. */
export interface FaultMatch {
  readonly on?: Operation | readonly Operation[]
  readonly client?: string
  readonly session?: SessionId
  readonly name?: string
  /** Ends the fault after so many calls. Default: it stays until it is taken back. */
  readonly times?: number
}

/** A fault and the calls that it concerns; or a function that is asked at each of them, for a seeded simulation or to record calls. */
export type FaultRule = FaultMatch &
  (Fault | { readonly decide: (operated: Operated) => Fault | readonly Fault[] | undefined })

/** What is to go wrong with calls from now on. Faults that concern the same call add up: delays are summed, a loss outweighs an error. */
export class Faults {
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>()

  /** Adds a fault, and returns the way to take it back. */
  add(rule: FaultRule): () => void {
    const ms = 'ms' in rule ? rule.ms : 0
    if (!(ms >= 0 && ms < Infinity))
      throw new ConfigError(
        `Fault ${'kind' in rule ? rule.kind : ''}: ms is ${ms}; give a number of ms, 0 or more.`,
      )
    const entry = { rule, left: rule.times ?? Infinity }
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
  meet(operated: Operated): readonly Fault[] {
    if (this.#rules.size === 0) return none
    const faults: Fault[] = []
    for (const entry of this.#rules) {
      if (!matches(entry.rule, operated)) continue
      if (--entry.left <= 0) this.#rules.delete(entry)
      const fault = 'decide' in entry.rule ? entry.rule.decide(operated) : entry.rule
      if (fault !== undefined) faults.push(...(isList(fault) ? fault : [fault]))
    }
    return faults
  }
}

const none: readonly Fault[] = []

function matches(match: FaultMatch, operated: Operated): boolean {
  const { on, client, session, name } = match
  return (
    (on === undefined || (typeof on === 'string' ? on === operated.on : on.includes(operated.on))) &&
    (client === undefined || client === operated.client) &&
    (session === undefined || session === operated.session) &&
    (name === undefined || name === operated.name)
  )
}

/** All faults that one call meets, taken together. */
export interface FaultPlan {
  readonly requestMs: number
  readonly replyMs: number
  readonly repeatMs: readonly number[]
  readonly loseRequest: boolean
  readonly loseReply: boolean
  readonly recall: boolean
  readonly before: Error | undefined
  readonly after: Error | undefined
}

export function planOf(faults: readonly Fault[], operated: Operated): FaultPlan {
  const plan = {
    requestMs: 0,
    replyMs: 0,
    repeatMs: [] as number[],
    loseRequest: false,
    loseReply: false,
    recall: false,
    before: undefined as Error | undefined,
    after: undefined as Error | undefined,
  }
  for (const fault of faults) {
    switch (fault.kind) {
      case 'delay-request':
        plan.requestMs += fault.ms
        plan.recall ||= fault.recall ?? false
        break
      case 'delay-reply':
        plan.replyMs += fault.ms
        break
      case 'lose-request':
        plan.loseRequest = true
        break
      case 'lose-reply':
        plan.loseReply = true
        break
      case 'repeat-request':
        plan.repeatMs.push(fault.ms)
        break
      case 'fail-before':
        plan.before ??= fault.error ?? injected(operated, 'before')
        break
      case 'fail-after':
        plan.after ??= fault.error ?? injected(operated, 'after')
        break
      default:
        unreachable(fault)
    }
  }
  return plan
}

function injected({ on, name }: Operated, moment: 'before' | 'after'): BackendError {
  const what = name === undefined ? on : `${on} of "${name}"`
  return new BackendError(`Memory backend: an injected fault failed ${what} ${moment} it took effect.`)
}

function unreachable(fault: never): never {
  throw new ConfigError(`Unknown fault ${JSON.stringify(fault)}.`)
}

function isList(fault: Fault | readonly Fault[]): fault is readonly Fault[] {
  return Array.isArray(fault)
}
