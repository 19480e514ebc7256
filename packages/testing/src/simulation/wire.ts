/** The network between one process and the backend: it carries calls there and answers back, each late, twice, or never. */
import { setMaxListeners } from 'node:events'
import {
  type AcquireReply,
  BackendError,
  type CallOptions,
  type Hint,
  type HintSubscription,
  type Inspection,
  type InspectScope,
  type JoinReply,
  type KeepAliveReply,
  type LeaseBackend,
  type OpenedSession,
  type Session,
  type SessionId,
} from '@simba/core'
import type { Operation } from '../faults.js'
import type { MemoryConnection } from '../memory-connection.js'
import type { SimulatedProcess } from './process.js'
import type { WorldTime } from './world-time.js'

/** What becomes of one message and its answer. */
export interface Fate {
  readonly requestMs: number
  readonly replyMs: number
  readonly lost: 'nothing' | 'request' | 'reply'
  readonly fails: 'no' | 'before it takes effect' | 'after it took effect'
  /** A second copy of the request arrives this much later. */
  readonly repeatMs: number | undefined
}

/** A call that a process sends. */
export interface Sent {
  readonly op: Operation
  readonly session: SessionId | undefined
  readonly name: string | undefined
  readonly token: bigint | undefined
  readonly timeoutMs: number
}

export interface WireOptions {
  readonly process: SimulatedProcess
  readonly time: WorldTime
  readonly backend: MemoryConnection
  /** The token with which a release arrives: its own, unless that premise is broken. */
  releasedToken(name: string, token: bigint): bigint
  fate(process: SimulatedProcess, op: Operation): Fate
  /** Told of each call that is sent, and when it has been answered. */
  onSent(sent: Sent): () => void
}

export class Wire implements LeaseBackend {
  readonly name = 'simulated'
  readonly #options: WireOptions
  /** A message cannot be recalled: the backend knows nothing of the caller's giving up. */
  readonly #never = new AbortController().signal

  constructor(options: WireOptions) {
    this.#options = options
    setMaxListeners(0, this.#never)
  }

  openSession(
    request: { readonly leaseMs: number; readonly metadata: string },
    call: CallOptions,
  ): Promise<OpenedSession> {
    return this.#call('openSession', {}, call, (backend, options) => backend.openSession(request, options))
  }

  keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    return this.#call('keepAlive', { session }, call, (backend, options) =>
      backend.keepAlive(session, options),
    )
  }

  closeSession(session: Session, call: CallOptions): Promise<void> {
    return this.#call('closeSession', { session }, call, (backend, options) =>
      backend.closeSession(session, options),
    )
  }

  acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.#call('acquire', { session, name }, call, (backend, options) =>
      backend.acquire(session, name, options),
    )
  }

  release(session: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.#call('release', { session, name, token }, call, (backend, options) =>
      backend.release(session, name, this.#options.releasedToken(name, token), options),
    )
  }

  join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
    return this.#call('join', { session, name: group }, call, (backend, options) =>
      backend.join(session, group, options),
    )
  }

  leave(session: Session, group: string, call: CallOptions): Promise<void> {
    return this.#call('leave', { session, name: group }, call, (backend, options) =>
      backend.leave(session, group, options),
    )
  }

  members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
    return this.#call('members', { name: group }, call, (backend, options) => backend.members(group, options))
  }

  inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
    return this.#call('inspect', {}, call, (backend, options) => backend.inspect(scope, options))
  }

  hints(listener: (hint: Hint) => void): HintSubscription {
    const { process, backend } = this.#options
    return backend.hints((hint) => {
      const fate = this.#options.fate(process, 'hint')
      if (fate.lost !== 'nothing') return
      const deliver = () => process.deliver(() => listener(hint))
      this.#travel(fate.requestMs, deliver)
      if (fate.repeatMs !== undefined) this.#travel(fate.requestMs + fate.repeatMs, deliver)
    })
  }

  async close(): Promise<void> {}

  #call<T>(
    op: Operation,
    about: { readonly session?: Session; readonly name?: string; readonly token?: bigint },
    { timeoutMs }: CallOptions,
    ask: (backend: MemoryConnection, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { process, backend } = this.#options
    const answered = this.#options.onSent({
      op,
      session: about.session?.id,
      name: about.name,
      token: about.token,
      timeoutMs,
    })
    const fate = this.#options.fate(process, op)
    const options = { signal: this.#never, timeoutMs }
    return new Promise<T>((resolve, reject) => {
      const back = (settle: () => void) => {
        if (fate.lost === 'reply') return
        this.#travel(fate.replyMs, () =>
          process.deliver(() => {
            answered()
            settle()
          }),
        )
      }
      const fail = (error: unknown) => back(() => reject(error))
      const arrive = () => {
        if (fate.fails === 'before it takes effect') {
          fail(new BackendError(`A fault of the simulation failed ${op} ${fate.fails}.`))
          return
        }
        ask(backend, options).then(
          (value) =>
            fate.fails === 'no'
              ? back(() => resolve(value))
              : fail(new BackendError(`A fault of the simulation failed ${op} ${fate.fails}.`)),
          fail,
        )
      }
      if (fate.lost === 'request') return
      this.#travel(fate.requestMs, arrive)
      if (fate.repeatMs === undefined) return
      const again = () => void ask(backend, options).catch(() => {})
      this.#travel(fate.requestMs + fate.repeatMs, again)
    })
  }

  #travel(ms: number, arrive: () => void): void {
    if (ms === 0) arrive()
    else this.#options.time.setTimer(arrive, ms)
  }
}
