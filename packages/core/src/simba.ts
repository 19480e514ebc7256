/** The client: one per process. Everything starts here. */
import { checkFunction, checkKeys } from './arguments.js'
import { Client } from './client/client.js'
import { Groups } from './client/groups.js'
import { inspectAll, type SimbaInspection } from './client/inspect.js'
import { Locks } from './client/locks.js'
import { checkOptions, type SimbaOptions } from './config.js'
import { Election } from './election.js'
import type { SimbaEvent } from './events.js'
import { checkGroup, type GroupOptions, PartitionGroup } from './group.js'
import { type Health, judge } from './health.js'
import { checkName } from './lease-name.js'
import { Lock } from './lock.js'
import { randomSeed } from './runtime/random.js'
import { SystemClock } from './runtime/system-clock.js'
import { type SimbaSnapshot, takeSnapshot } from './snapshot.js'

/**
 * One session in a backend, and all that lives in it. Making one does no I/O: the session opens at the first use, or at `ready()`.
 *
 * @example
 * const simba = new Simba({ backend: SqlLeaseBackend.sqlite(database) })
 * simba.election('report').schedule(Schedule.fixedRate('1m'), (term) => report.generate(term.token))
 */
export class Simba implements AsyncDisposable {
  private readonly client: Client
  private readonly locks: Locks
  private readonly groups: Groups

  /** @throws ConfigError */
  constructor(options: SimbaOptions) {
    const config = checkOptions(options)
    this.client = new Client(config, options.clock ?? new SystemClock(), options.seed ?? randomSeed())
    this.locks = new Locks(this.client)
    this.groups = new Groups(this.client)
  }

  /**
   * Resolves when the session is live. Not needed before anything else: starts and acquires wait by themselves.
   *
   * @throws ClosedError if the client is closed before; the signal's reason if it aborts.
   */
  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkKeys('ready', options, { signal: true })
    const { client } = this
    const { signal } = options
    client.ensureOpen('ready()')
    signal?.throwIfAborted()
    client.session.needed()
    if (client.session.state === 'LIVE') return
    await new Promise<void>((resolve, reject) => {
      const offAbort = client.aborts.add(signal, () => {
        offLive()
        reject(signal?.reason)
      })
      const offLive = client.session.whenLive((error) => {
        offAbort()
        if (error === undefined) resolve()
        else reject(error)
      })
    })
  }

  /** @throws LeaseNameError */
  election(name: string): Election {
    return new Election(this.client, checkName('lease', name, this.client.config.namespace))
  }

  /** @throws LeaseNameError */
  lock(name: string): Lock {
    return new Lock(this.locks, checkName('lease', name, this.client.config.namespace))
  }

  /** @throws LeaseNameError, ConfigError */
  group(name: string, options: GroupOptions): PartitionGroup {
    const full = checkName('group', name, this.client.config.namespace)
    return new PartitionGroup(this.groups, full, checkGroup(full, options))
  }

  /**
   * Reports what happens until the returned function is called, or the signal aborts. A listener is called in the middle of things: it
   * should be quick. One that throws is reported, and disturbs nothing.
   */
  subscribe(
    listener: (event: SimbaEvent) => void,
    options: { readonly signal?: AbortSignal } = {},
  ): () => void {
    checkFunction('subscribe: the listener', listener)
    checkKeys('subscribe', options, { signal: true })
    const { client } = this
    client.ensureOpen('subscribe()')
    options.signal?.throwIfAborted()
    const end = client.events.subscribe(listener)
    const off = client.aborts.add(options.signal, end)
    return () => {
      off()
      end()
    }
  }

  /** What this client is doing now. */
  snapshot(): SimbaSnapshot {
    return takeSnapshot(this.client, this.locks, this.groups)
  }

  /** Whether this client can do its job; a follower can. For a liveness or readiness probe. */
  health(): Health {
    return judge(this.snapshot(), this.client.timing.leaseMs)
  }

  /**
   * What the backend holds now: everyone's sessions, leases and groups.
   *
   * @throws UnsupportedError if the backend cannot tell, BackendError if it fails, ClosedError.
   */
  inspect(): Promise<SimbaInspection> {
    return inspectAll(this.client)
  }

  /**
   * Ends every term, waits for running work to exit (but not beyond the deadline as it stands; not at all with `force`), and gives the
   * leases and the session back, which takes one call timeout at most. Idempotent; never rejects. The pool, client or database that was
   * given to the backend stays open. Called inside a run or callback of this client it does not wait.
   */
  close(options: { readonly force?: boolean } = {}): Promise<void> {
    checkKeys('close', options, { force: true })
    return this.client.close(options.force ?? false)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
