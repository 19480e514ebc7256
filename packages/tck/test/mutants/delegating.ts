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
import { MemoryLeaseBackend, type VirtualTime } from '@simba/testing'

/** A backend that does all as the memory backend does: mutants are made from it, each with one rule broken. */
export class Delegating implements LeaseBackend {
  readonly name: string = 'mutant'
  protected readonly inner: MemoryLeaseBackend
  protected readonly time: VirtualTime

  constructor(time: VirtualTime) {
    this.time = time
    this.inner = new MemoryLeaseBackend({ clock: time })
  }

  openSession(
    request: { readonly leaseMs: number; readonly metadata: string },
    call: CallOptions,
  ): Promise<OpenedSession> {
    return this.inner.openSession(request, call)
  }

  keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    return this.inner.keepAlive(session, call)
  }

  closeSession(session: Session, call: CallOptions): Promise<void> {
    return this.inner.closeSession(session, call)
  }

  acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.inner.acquire(session, name, call)
  }

  release(session: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.inner.release(session, name, token, call)
  }

  join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
    return this.inner.join(session, group, call)
  }

  leave(session: Session, group: string, call: CallOptions): Promise<void> {
    return this.inner.leave(session, group, call)
  }

  members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
    return this.inner.members(group, call)
  }

  hints(listener: (hint: Hint) => void): HintSubscription {
    return this.inner.hints(listener)
  }

  inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
    return this.inner.inspect(scope, call)
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  /** The owner and token of a lease now. */
  protected termOf(name: string): { readonly holder: Session; readonly token: bigint } | undefined {
    const lease = this.inner.contents().leases.find((lease) => lease.name === name)
    return lease?.holder === undefined
      ? undefined
      : { holder: { id: lease.holder, leaseMs: 0 }, token: lease.token }
  }
}

/** One broken rule, and the failure that must tell of it. */
export interface Mutant {
  /** What the backend does wrong. */
  readonly defect: string
  /** Part of the title of a case that must fail. */
  readonly caught: string
  /** The rule that its message must name. */
  readonly rule: string
  readonly make: new (time: VirtualTime) => LeaseBackend
}
