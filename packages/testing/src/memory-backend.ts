import { randomInt } from 'node:crypto'
import type { Clock, Inspection, SessionId } from '@simba/core'
import type { Faults } from './faults.js'
import { MemoryConnection } from './memory-connection.js'
import { MemoryServer } from './memory-server.js'

/** Options of {@link MemoryLeaseBackend}. */
export interface MemoryLeaseBackendOptions {
  /**
   * Decides when sessions expire and delayed calls arrive: a `VirtualTime`, or a `clock()` of one where the
   * backend's clock is to drift.
   */
  readonly clock: Clock
  /**
   * Gives numbers from 0 up to but not including 1, for session ids. Default: from `node:crypto`. Give a
   * seeded one to have the same ids in each run.
   */
  readonly random?: () => number
}

/**
 * A backend in the memory of this process, for tests: it keeps every rule of `LeaseBackend` until it is told
 * to break one.
 *
 * Several clients may share one. A call takes effect at once, within the call, and its reply and hints come
 * in later microtasks, unless {@link faults} or {@link freeze} say otherwise. Not for production: nothing
 * outlives the process.
 *
 * @example
 * const backend = new MemoryLeaseBackend({ clock: time })
 * backend.faults.add({ on: 'keepAlive', times: 2, kind: 'lose-reply' })
 */
export class MemoryLeaseBackend extends MemoryConnection {
  readonly #server: MemoryServer

  constructor(options: MemoryLeaseBackendOptions) {
    const server = new MemoryServer(options.clock, options.random ?? (() => randomInt(2 ** 32) / 2 ** 32))
    super(server, '')
    this.#server = server
  }

  /** What goes wrong with calls from now on. */
  get faults(): Faults {
    return this.#server.faults
  }

  /**
   * The same backend, as one client reaches it: faults with this `client` concern only what comes by this
   * connection.
   */
  connect(client: string): MemoryConnection {
    return new MemoryConnection(this.#server, client)
  }

  /** Stops the backend as SIGSTOP does: calls wait, while its clock goes on. Idempotent. */
  freeze(): void {
    this.#server.freeze()
  }

  /**
   * Lets a frozen backend go on: all calls that wait take effect now, in order of arrival, also those that
   * their callers have given up.
   */
  thaw(): void {
    this.#server.thaw()
  }

  /**
   * Restarts the backend at once, with its data. Calls and hints on their way, to it or back, are lost, and
   * the calls reject with a `BackendError`. A frozen backend is no longer frozen.
   */
  restart(): void {
    this.#server.restart()
  }

  /**
   * Loses all sessions, leases and memberships.
   *
   * @param options.resetTokens also forgets which tokens were given out, so that the next term gets token 1
   * again: this breaks rule B4, as a failover to an empty replica does. Default false.
   */
  loseData(options: { readonly resetTokens?: boolean } = {}): void {
    this.#server.state.lose(options.resetTokens ?? false)
  }

  /**
   * Remembers the present state, and returns the way back to it: sessions, leases and memberships are then as
   * they were, and so is the token counter. This breaks rule B4, as a failover to a replica that lags behind
   * does.
   */
  checkpoint(): () => void {
    return this.#server.state.checkpoint()
  }

  /**
   * Ends a session as if its time had run out; nobody is told. An unknown id is none of this backend's
   * business.
   *
   * @returns whether there was such a session.
   */
  expireSession(id: SessionId): boolean {
    return this.#server.state.expire(id)
  }

  /** What the backend holds now; unlike `inspect` at once, and out of the reach of faults. */
  contents(): Inspection {
    return this.#server.state.inspect({ kind: 'all' }, this.#server.clock.now())
  }
}
