/** A lock: a name that at most one term holds at a time, taken for as long as a piece of work needs it. */
import { checkFunction, checkKeys } from './arguments.js'
import type { LockQueue } from './client/lock-queue.js'
import type { Locks } from './client/locks.js'
import { type Duration, toMs } from './duration.js'
import type { Term } from './term.js'

/** A term that is given back by its holder. `await using held = await lock.acquire()` does so at the end of the block. */
export interface LockTerm extends Term, AsyncDisposable {
  /**
   * Ends the term and gives the lease back. Settles when that is done, or after one call timeout (the lease then goes with its session,
   * or at the next renewal). Idempotent; never rejects.
   */
  release(): Promise<void>
}

export interface AcquireOptions {
  /** How long to wait. Default: as long as it takes. */
  readonly timeout?: Duration
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Made by `simba.lock(name)`. Handles are cheap and stateless: two of one name are the same lock. */
export class Lock {
  constructor(
    private readonly locks: Locks,
    readonly name: string,
  ) {}

  /**
   * Waits for the lock. Several calls on one client are served in their order.
   *
   * @throws LockTimeoutError after `timeout`; its message tells "held by …" from "the backend cannot be reached".
   * @throws AlreadyStartedError if the name is started as an election or task on this client.
   * @throws ClosedError if the client is, or is being, closed.
   *
   * @example
   * await using held = await lock.acquire({ timeout: '5s' })
   * await ledger.write(entry, held.token)
   */
  async acquire(options: AcquireOptions = {}): Promise<LockTerm> {
    const timeoutMs = check('acquire', options)
    return await this.queue('acquire').acquire(timeoutMs, options.signal)
  }

  /**
   * Attempts once. `undefined` means that another holds the lock.
   *
   * @throws BackendError if the backend failed or did not answer.
   * @throws AlreadyStartedError, ClosedError as `acquire`.
   */
  async tryAcquire(options: { readonly signal?: AbortSignal } = {}): Promise<LockTerm | undefined> {
    checkKeys('tryAcquire', options, { signal: true })
    options.signal?.throwIfAborted()
    return await this.queue('tryAcquire').tryAcquire(options.signal)
  }

  /**
   * Runs a function while holding the lock, and returns its result when the lock has been given back. Waits for the function in any case.
   *
   * @throws TermRevokedError if the term ended before the function did; it carries the function's `result`.
   * @throws what the function threw; and as `acquire`.
   */
  async withLock<T>(work: (term: Term) => T | PromiseLike<T>, options: AcquireOptions = {}): Promise<T> {
    checkFunction('withLock: the work', work)
    const timeoutMs = check('withLock', options)
    return await this.queue('withLock').withLock(work, timeoutMs, options.signal)
  }

  private queue(call: string): LockQueue {
    return this.locks.queue(this.name, call)
  }
}

function check(call: string, options: AcquireOptions): number | undefined {
  checkKeys(call, options, { timeout: true, signal: true })
  options.signal?.throwIfAborted()
  return options.timeout === undefined ? undefined : toMs(options.timeout, `${call}: timeout`)
}
