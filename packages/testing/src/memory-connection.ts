import type {
  AcquireReply,
  CallOptions,
  Hint,
  HintSubscription,
  Inspection,
  InspectScope,
  JoinReply,
  KeepAliveReply,
  LeaseBackend,
  OpenedSession,
  Session,
  SessionId,
} from '@simba/core'
import type { Operation } from './faults.js'
import type { MemoryServer } from './memory-server.js'
import type { MemoryState } from './memory-state.js'

/** What a call concerns, for faults. */
interface Concerns {
  readonly session?: SessionId
  readonly name?: string
}

/**
 * One client's connection to a memory backend: the same backend, told apart by faults that concern its
 * `client`.
 */
export class MemoryConnection implements LeaseBackend {
  readonly name = 'memory'
  readonly #server: MemoryServer
  readonly #client: string

  /** @internal Connections are made by `MemoryLeaseBackend.connect`. */
  constructor(server: MemoryServer, client: string) {
    this.#server = server
    this.#client = client
  }

  openSession(
    { leaseMs, metadata }: { readonly leaseMs: number; readonly metadata: string },
    call: CallOptions,
  ): Promise<OpenedSession> {
    return this.#call('openSession', {}, call, (state, now) => {
      const id = this.#server.newSessionId()
      state.open(id, leaseMs, metadata, now)
      return { id, remainingMs: leaseMs }
    })
  }

  keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    return this.#call('keepAlive', { session: session.id }, call, (state, now) =>
      state.keepAlive(session, now),
    )
  }

  closeSession({ id }: Session, call: CallOptions): Promise<void> {
    return this.#call('closeSession', { session: id }, call, (state) => state.close(id))
  }

  acquire({ id }: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.#call('acquire', { session: id, name }, call, (state, now) => state.acquire(id, name, now))
  }

  release({ id }: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.#call('release', { session: id, name }, call, (state) => state.release(id, name, token))
  }

  join({ id }: Session, group: string, call: CallOptions): Promise<JoinReply> {
    return this.#call('join', { session: id, name: group }, call, (state, now) => state.join(id, group, now))
  }

  leave({ id }: Session, group: string, call: CallOptions): Promise<void> {
    return this.#call('leave', { session: id, name: group }, call, (state) => state.leave(id, group))
  }

  members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
    return this.#call('members', { name: group }, call, (state, now) => state.members(group, now))
  }

  inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
    const concerns = scope.kind === 'lease' ? { name: scope.name } : {}
    return this.#call('inspect', concerns, call, (state, now) => state.inspect(scope, now))
  }

  hints(listener: (hint: Hint) => void): HintSubscription {
    return this.#server.hints.subscribe(this.#client, listener)
  }

  /** Does nothing: other clients may use the same backend, and there is nothing to free. */
  async close(): Promise<void> {}

  #call<T>(
    on: Operation,
    concerns: Concerns,
    call: CallOptions,
    apply: (state: MemoryState, now: number) => T,
  ): Promise<T> {
    const { clock, state } = this.#server
    return this.#server.call({ on, client: this.#client, ...concerns }, call, () => apply(state, clock.now()))
  }
}
