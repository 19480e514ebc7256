/**
 * Those of this client who want one lock, in the order of their calls. For the first of them the name competes in the backend; each
 * grant is a term of its own. The queue exists while somebody waits for the lock or holds it.
 */
import type { AttemptOutcome } from '../engine/effect.js'
import { ClosedError, LockTimeoutError } from '../errors.js'
import { inflateBackendError } from '../runtime/flat-error.js'
import type { Term } from '../term.js'
import type { Candidacy } from './candidacy.js'
import type { Client } from './client.js'
import { HeldLock } from './held-lock.js'
import type { LiveTerm } from './live-term.js'

interface Waiter {
  readonly since: number
  /** Whether one attempt is all that it waits for. */
  readonly once: boolean
  grant(held: HeldLock): void
  refuse(): void
  fail(error: unknown): void
}

export class LockQueue {
  private readonly waiters = new Set<Waiter>()
  private candidacy: Candidacy | undefined
  private holder: LiveTerm | undefined
  /** What the latest attempt found; nothing since the last grant. */
  private latest: AttemptOutcome | undefined
  private latestFailure: Extract<AttemptOutcome, { readonly kind: 'failed' }> | undefined

  constructor(
    private readonly client: Client,
    readonly name: string,
    private readonly unused: () => void,
  ) {}

  get waiting(): number {
    return this.waiters.size
  }

  /** The term of the one who holds the lock on this client. */
  get term(): LiveTerm | undefined {
    return this.holder
  }

  /** Waits; `timeoutMs` undefined means for ever. */
  acquire(timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<HeldLock> {
    return new Promise((resolve, reject) => {
      const grant = (held: HeldLock) => {
        // Without work of its own, nothing delays the end of the term.
        held.candidacy.workExited(held.term)
        resolve(held)
      }
      this.enqueue({ grant, refuse() {}, fail: reject, once: false }, timeoutMs, signal)
    })
  }

  tryAcquire(signal: AbortSignal | undefined): Promise<HeldLock | undefined> {
    const held = this.holder !== undefined && this.holder.reason === undefined
    if (held || this.waiters.size > 0) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      const grant = (held: HeldLock) => {
        held.candidacy.workExited(held.term)
        resolve(held)
      }
      this.enqueue({ grant, refuse: () => resolve(undefined), fail: reject, once: true }, undefined, signal)
    })
  }

  async withLock<T>(
    work: (term: Term) => T | PromiseLike<T>,
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { term, candidacy } = await new Promise<HeldLock>((resolve, reject) => {
      this.enqueue({ grant: resolve, refuse() {}, fail: reject, once: false }, timeoutMs, signal)
    })
    const { client } = this
    const run = candidacy.beginRun(term, client.clock.now())
    try {
      const result = await candidacy.frames.enter(() => work(term))
      if (!term.isValid) throw term.revokedError(term.reason ?? 'DEADLINE_PASSED', { result })
      return result
    } finally {
      candidacy.endRun(run)
      await candidacy.stop()
    }
  }

  /** The client closes: nobody gets the lock any more. */
  close(): void {
    for (const waiter of [...this.waiters]) {
      this.remove(waiter)
      waiter.fail(new ClosedError(`The client was closed while waiting for the lock "${this.name}".`))
    }
  }

  private enqueue(
    settle: Pick<Waiter, 'grant' | 'refuse' | 'fail' | 'once'>,
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): void {
    const { client } = this
    const since = client.clock.now()
    const timeout = Symbol('timeout')
    const long = Symbol('long')
    const off = client.aborts.add(signal, () => {
      this.leave(waiter)
      waiter.fail(signal?.reason)
    })
    const done = <A extends unknown[]>(then: (...given: A) => void) => {
      return (...given: A) => {
        off()
        client.timers.disarm(timeout)
        client.timers.disarm(long)
        then(...given)
      }
    }
    const waiter: Waiter = {
      since,
      once: settle.once,
      grant: done(settle.grant),
      refuse: done(settle.refuse),
      fail: done(settle.fail),
    }
    if (timeoutMs !== undefined) {
      client.timers.arm(timeout, since + timeoutMs, () => {
        this.leave(waiter)
        waiter.fail(this.timedOut(timeoutMs))
      })
    }
    if (this.holder !== undefined || this.waiters.size > 0) {
      client.timers.arm(long, since + client.timing.leaseMs, () => this.reportLongWait(waiter))
    }
    this.waiters.add(waiter)
    this.compete()
  }

  private reportLongWait({ since }: Waiter): void {
    if (this.holder === undefined) return
    const waitedMs = this.client.clock.now() - since
    this.client.publish({ type: 'LockWaitsLong', name: this.name, waitedMs })
  }

  private timedOut(timeoutMs: number): LockTimeoutError {
    const { latest, latestFailure, holder } = this
    const failed = latestFailure === undefined ? {} : { cause: inflateBackendError(latestFailure.error) }
    const start = `The lock "${this.name}" was not acquired within ${timeoutMs} ms`
    if (holder !== undefined) {
      const heldMs = Math.round(this.client.clock.now() - holder.startedAt)
      return new LockTimeoutError(
        `${start}: held by this same client for ${heldMs} ms (token ${holder.token}). If the caller holds it itself, it waits for itself: locks are not re-entrant.`,
        failed,
      )
    }
    if (latest?.kind === 'held') {
      const who = latest.holder === undefined ? 'another session' : `session ${latest.holder}`
      return new LockTimeoutError(`${start}: held by ${who}. Wait longer, or look at who holds it.`, failed)
    }
    if (latest?.kind === 'failed') {
      return new LockTimeoutError(`${start}: the backend cannot be reached. ${latest.error.message}`, failed)
    }
    return new LockTimeoutError(
      `${start}: the backend has not answered yet. Is it reachable, and the timeout long enough for one call?`,
    )
  }

  /** Leaves the queue unserved; the last to leave ends the competition, and a grant that is on its way is given back. */
  private leave(waiter: Waiter): void {
    this.remove(waiter)
    if (this.waiters.size === 0 && this.holder === undefined) void this.candidacy?.stop()
  }

  private remove(waiter: Waiter): void {
    this.waiters.delete(waiter)
  }

  private compete(): void {
    if (this.candidacy !== undefined || this.waiters.size === 0) return
    this.candidacy = this.client.begin(this.name, 'lock', {
      elected: (term, own) => this.grant(own, term),
      attempted: (outcome) => this.attempted(outcome),
      stopped: () => this.next(),
    })
  }

  private grant(candidacy: Candidacy, term: LiveTerm): void {
    const [waiter] = this.waiters
    if (waiter === undefined || candidacy.isStopping) {
      candidacy.workExited(term)
      void candidacy.stop()
      return
    }
    this.latest = undefined
    this.latestFailure = undefined
    this.holder = term
    this.remove(waiter)
    waiter.grant(new HeldLock(term, candidacy))
  }

  private attempted(outcome: AttemptOutcome): void {
    this.latest = outcome
    if (outcome.kind === 'failed') this.latestFailure = outcome
    const [waiter] = this.waiters
    if (!waiter?.once) return
    this.leave(waiter)
    if (outcome.kind === 'held') waiter.refuse()
    else waiter.fail(inflateBackendError(outcome.error))
  }

  /** The engine has let go of the name: the next one's turn, if there is one. */
  private next(): void {
    this.candidacy = undefined
    this.holder = undefined
    if (this.waiters.size > 0) this.compete()
    else this.unused()
  }
}
