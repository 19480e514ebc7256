import type {
  AcquireReply,
  CallOptions,
  JoinReply,
  KeepAliveReply,
  OpenedSession,
  Session,
  SessionId,
} from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

interface Request {
  readonly leaseMs: number
  readonly metadata: string
}

export const sessionMutants: readonly Mutant[] = [
  {
    defect: 'keepAlive revives an expired session',
    caught: 'B2: an expired session is not revived by keepAlive',
    rule: 'B2',
    make: class extends Delegating {
      readonly #revived = new Map<SessionId, SessionId>()

      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const id = this.#revived.get(session.id) ?? session.id
        const reply = await this.inner.keepAlive({ ...session, id }, call)
        if (reply.kind === 'renewed') return reply
        const { leaseMs } = session
        const opened = await this.inner.openSession({ leaseMs, metadata: '{}' }, call)
        this.#revived.set(session.id, opened.id)
        return { kind: 'renewed', remainingMs: leaseMs, owned: [] }
      }
    },
  },
  {
    defect: 'a second keepAlive revives an expired session',
    caught: 'B2: an expired session is not revived by keepAlive',
    rule: 'B2',
    make: class extends Delegating {
      readonly #refused = new Set<SessionId>()

      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const reply = await this.inner.keepAlive(session, call)
        if (reply.kind === 'renewed') return reply
        if (!this.#refused.has(session.id)) {
          this.#refused.add(session.id)
          return reply
        }
        return { kind: 'renewed', remainingMs: session.leaseMs, owned: [] }
      }
    },
  },
  {
    defect: 'acquire does not look whether the session has expired',
    caught: 'B2: an expired session cannot acquire',
    rule: 'B2',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind !== 'expired') return reply
        const { leaseMs } = session
        const { id } = await this.inner.openSession({ leaseMs, metadata: '{}' }, call)
        return this.inner.acquire({ id, leaseMs }, name, call)
      }
    },
  },
  {
    defect: 'acquire answers held to an expired session',
    caught: 'B2: an expired session cannot acquire',
    rule: 'B2',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const term = this.termOf(name)
        if (term !== undefined && term.holder.id !== session.id) return { kind: 'held' }
        return this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'join does not look whether the session has expired',
    caught: 'B2: an expired session cannot join a group',
    rule: 'B2',
    make: class extends Delegating {
      override async join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
        await this.inner.join(session, group, call)
        return { kind: 'joined' }
      }
    },
  },
  {
    defect: 'the remaining time is 1 ms longer than the lease duration',
    caught: 'a session opens with a remaining time above 0 and at most its lease duration',
    rule: '"remaining"',
    make: class extends Delegating {
      override async openSession(request: Request, call: CallOptions): Promise<OpenedSession> {
        const { id, remainingMs } = await this.inner.openSession(request, call)
        return { id, remainingMs: remainingMs + 1 }
      }
    },
  },
  {
    defect: 'a session ends before the remaining time that it was told at its opening',
    caught: 'B1: a lease is not granted to another before the time that its owner was told',
    rule: 'B1',
    make: class extends Delegating {
      override async openSession(request: Request, call: CallOptions): Promise<OpenedSession> {
        const { id } = await this.inner.openSession({ ...request, leaseMs: request.leaseMs * 0.95 }, call)
        return { id, remainingMs: request.leaseMs }
      }
    },
  },
  {
    defect: 'a renewal prolongs the session by half of its lease duration only',
    caught: 'B1: a renewed session keeps its leases for the whole time that the renewal told',
    rule: 'B1',
    make: class extends Delegating {
      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const reply = await this.inner.keepAlive({ ...session, leaseMs: session.leaseMs / 2 }, call)
        return reply.kind === 'renewed' ? { ...reply, remainingMs: session.leaseMs } : reply
      }
    },
  },
  {
    defect: 'a renewal tells only the time that was left before it',
    caught: 'a renewal prolongs the session by its whole lease duration',
    rule: '"renewal"',
    make: class extends Delegating {
      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const { sessions } = this.inner.contents()
        const left = sessions.find(({ id }) => id === session.id)?.remainingMs ?? session.leaseMs
        const reply = await this.inner.keepAlive(session, call)
        return reply.kind === 'renewed' ? { ...reply, remainingMs: left } : reply
      }
    },
  },
  {
    defect: 'renewals add up',
    caught: 'B1: a session that is no longer renewed expires after its last renewal',
    rule: 'B1',
    make: class extends Delegating {
      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const left = this.inner.contents().sessions.find(({ id }) => id === session.id)?.remainingMs ?? 0
        const leaseMs = session.leaseMs + left
        const reply = await this.inner.keepAlive({ ...session, leaseMs }, call)
        return reply.kind === 'renewed' ? { ...reply, remainingMs: session.leaseMs } : reply
      }
    },
  },
  {
    defect: 'sessions do not expire',
    caught: 'B1: a session without a renewal expires after its lease duration',
    rule: 'B1',
    make: class extends Delegating {
      override async openSession(request: Request, call: CallOptions): Promise<OpenedSession> {
        const { id } = await this.inner.openSession({ ...request, leaseMs: 1e9 }, call)
        return { id, remainingMs: request.leaseMs }
      }
    },
  },
  {
    defect: 'acquire prolongs the session',
    caught: 'B1: only keepAlive prolongs a session',
    rule: 'B1',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        await this.inner.keepAlive(session, call)
        return this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'all sessions of a process have one id',
    caught: 'each session has an id of its own',
    rule: '"session id"',
    make: class extends Delegating {
      #opened: Promise<OpenedSession> | undefined

      override openSession(request: Request, call: CallOptions): Promise<OpenedSession> {
        this.#opened ??= this.inner.openSession(request, call)
        return this.#opened
      }
    },
  },
  {
    defect: 'metadata above 255 characters are refused',
    caught: 'a session opens with metadata of 1024 characters',
    rule: 'openSession rejected: value too long',
    make: class extends Delegating {
      override async openSession(request: Request, call: CallOptions): Promise<OpenedSession> {
        if (request.metadata.length > 255) throw new Error('value too long')
        return this.inner.openSession(request, call)
      }
    },
  },
  {
    defect: 'closeSession leaves the leases',
    caught: 'closeSession frees all leases of the session at once',
    rule: '"close"',
    make: class extends Delegating {
      readonly #closed = new Set<SessionId>()

      override async closeSession(session: Session): Promise<void> {
        this.#closed.add(session.id)
      }

      override keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        if (this.#closed.has(session.id)) return Promise.resolve({ kind: 'expired' })
        return this.inner.keepAlive(session, call)
      }
    },
  },
  {
    defect: 'closeSession leaves the memberships',
    caught: 'closeSession ends all memberships of the session at once',
    rule: '"close"',
    make: class extends Delegating {
      readonly #closed = new Set<SessionId>()

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        this.#closed.add(session.id)
        for (const { name, holder, token } of this.inner.contents().leases)
          if (holder === session.id) await this.inner.release(session, name, token, call)
      }

      override keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        if (this.#closed.has(session.id)) return Promise.resolve({ kind: 'expired' })
        return this.inner.keepAlive(session, call)
      }
    },
  },
  {
    defect: 'a closed session lives on, without what it had',
    caught: 'B2: a closed session is expired for good',
    rule: 'B2',
    make: class extends Delegating {
      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        const { leases, groups } = this.inner.contents()
        for (const { name, token } of leases) await this.inner.release(session, name, token, call)
        for (const { group } of groups) await this.inner.leave(session, group, call)
      }
    },
  },
  {
    defect: 'a late closeSession frees what others have taken over',
    caught: 'closing a session late, or again, leaves its former leases with their new owners',
    rule: '"close"',
    make: class extends Delegating {
      readonly #taken = new Map<string, Set<SessionId>>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted')
          this.#taken.set(name, (this.#taken.get(name) ?? new Set()).add(session.id))
        return reply
      }

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        await this.inner.closeSession(session, call)
        for (const [name, owners] of this.#taken) {
          const term = owners.has(session.id) ? this.termOf(name) : undefined
          if (term !== undefined) await this.inner.release(term.holder, name, term.token, call)
        }
      }
    },
  },
  {
    defect: 'closeSession of a session that is over rejects',
    caught: 'closeSession is idempotent, for closed, expired and empty sessions',
    rule: 'closeSession rejected',
    make: class extends Delegating {
      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        const live = this.inner.contents().sessions.some(({ id }) => id === session.id)
        if (!live) throw new Error('no such session')
        await this.inner.closeSession(session, call)
      }
    },
  },
]
