import type {
  AcquireReply,
  CallOptions,
  JoinReply,
  KeepAliveReply,
  OwnedLease,
  Session,
  SessionId,
} from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

/** Lists something else than what the session owns. */
abstract class OtherList extends Delegating {
  protected abstract list(session: Session, owned: readonly OwnedLease[]): readonly OwnedLease[]

  override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    const reply = await this.inner.keepAlive(session, call)
    return reply.kind === 'renewed' ? { ...reply, owned: this.list(session, reply.owned) } : reply
  }
}

export const ownedMutants: readonly Mutant[] = [
  {
    defect: 'the list ends after fifty leases',
    caught: 'it has all of a hundred leases',
    rule: '"owned"',
    make: class extends OtherList {
      protected list(_: Session, owned: readonly OwnedLease[]): readonly OwnedLease[] {
        return owned.slice(0, 50)
      }
    },
  },
  {
    defect: 'the list lacks the lease that was acquired last',
    caught: 'it has each lease with the token that acquire gave',
    rule: '"owned"',
    make: class extends OtherList {
      protected list(_: Session, owned: readonly OwnedLease[]): readonly OwnedLease[] {
        return owned.slice(0, -1)
      }
    },
  },
  {
    defect: 'the list lacks leases that were acquired since the renewal before',
    caught: 'it has a lease that was acquired between two renewals',
    rule: '"owned"',
    make: class extends OtherList {
      readonly #known = new Map<SessionId, Set<string>>()

      protected list(session: Session, owned: readonly OwnedLease[]): readonly OwnedLease[] {
        const known = this.#known.get(session.id)
        this.#known.set(session.id, new Set(owned.map(({ name }) => name)))
        return known === undefined ? owned : owned.filter(({ name }) => known.has(name))
      }
    },
  },
  {
    defect: 'the list has the leases of all sessions',
    caught: 'it does not have what another session owns',
    rule: '"owned"',
    make: class extends OtherList {
      protected list(): readonly OwnedLease[] {
        return this.inner.contents().leases
      }
    },
  },
  {
    defect: 'the list has what the session ever acquired',
    caught: 'it does not have a released lease, whoever owns it now',
    rule: '"owned"',
    make: class extends OtherList {
      readonly #ever = new Map<SessionId, Map<string, bigint>>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        const ever = this.#ever.get(session.id) ?? new Map<string, bigint>()
        if (reply.kind === 'granted') this.#ever.set(session.id, ever.set(name, reply.token))
        return reply
      }

      protected list({ id }: Session): readonly OwnedLease[] {
        return [...(this.#ever.get(id) ?? [])].map(([name, token]) => ({ name, token }))
      }
    },
  },
  {
    defect: 'the list has the token of the first term',
    caught: 'it has the new token after a release and another acquire',
    rule: '"owned"',
    make: class extends OtherList {
      readonly #first = new Map<string, bigint>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted' && !this.#first.has(name)) this.#first.set(name, reply.token)
        return reply
      }

      protected list(_: Session, owned: readonly OwnedLease[]): readonly OwnedLease[] {
        return owned.map(({ name, token }) => ({ name, token: this.#first.get(name) ?? token }))
      }
    },
  },
  {
    defect: 'the list has the groups too',
    caught: 'it does not have groups',
    rule: '"owned"',
    make: class extends OtherList {
      protected list({ id }: Session, owned: readonly OwnedLease[]): readonly OwnedLease[] {
        const groups = this.inner.contents().groups.filter(({ members }) => members.includes(id))
        return [...owned, ...groups.map(({ group }) => ({ name: group, token: 1n }))]
      }
    },
  },
  {
    defect: 'the list has a lease twice',
    caught: 'it has each lease with the token that acquire gave',
    rule: '"owned"',
    make: class extends OtherList {
      protected list(_: Session, owned: readonly OwnedLease[]): readonly OwnedLease[] {
        return [...owned, ...owned.slice(0, 1)]
      }
    },
  },
]

export const groupMutants: readonly Mutant[] = [
  {
    defect: 'a member outlives its session',
    caught: 'B6: a member disappears when its session expires',
    rule: 'B6',
    make: class extends Delegating {
      readonly #joined = new Map<string, Set<SessionId>>()

      override async join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
        const reply = await this.inner.join(session, group, call)
        if (reply.kind === 'joined')
          this.#joined.set(group, (this.#joined.get(group) ?? new Set()).add(session.id))
        return reply
      }

      override async leave(session: Session, group: string): Promise<void> {
        this.#joined.get(group)?.delete(session.id)
      }

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        for (const members of this.#joined.values()) members.delete(session.id)
        await this.inner.closeSession(session, call)
      }

      override async members(group: string): Promise<readonly SessionId[]> {
        return [...(this.#joined.get(group) ?? [])]
      }
    },
  },
  {
    defect: 'a membership ends a lease duration after the join, in spite of renewals',
    caught: 'B6: a member stays as long as its session is renewed',
    rule: 'B6',
    make: class extends Delegating {
      readonly #until = new Map<string, number>()

      override async join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
        this.#until.set(`${group} ${session.id}`, this.time.now() + session.leaseMs)
        return this.inner.join(session, group, call)
      }

      override async members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
        const members = await this.inner.members(group, call)
        return members.filter((id) => this.time.now() < (this.#until.get(`${group} ${id}`) ?? 0))
      }
    },
  },
  {
    defect: 'a session that joins twice is listed twice',
    caught: 'join is idempotent: a member is listed once',
    rule: '"groups"',
    make: class extends Delegating {
      readonly #joins: string[] = []

      override async join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
        this.#joins.push(`${group} ${session.id}`)
        return this.inner.join(session, group, call)
      }

      override async members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
        const members = await this.inner.members(group, call)
        return members.flatMap((id) => this.#joins.filter((join) => join === `${group} ${id}`).map(() => id))
      }
    },
  },
  {
    defect: 'the members are read from a copy that lags behind',
    caught: 'a join that has returned is in the view',
    rule: '"groups"',
    make: class extends Delegating {
      readonly #before = new Map<string, readonly SessionId[]>()

      override async members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
        const before = this.#before.get(group) ?? []
        this.#before.set(group, await this.inner.members(group, call))
        return before
      }
    },
  },
  {
    defect: 'leave ends all memberships of the session',
    caught: 'a session can be in several groups, and leaves one of them only',
    rule: '"groups"',
    make: class extends Delegating {
      override async leave(session: Session, _: string, call: CallOptions): Promise<void> {
        for (const { group } of this.inner.contents().groups) await this.inner.leave(session, group, call)
      }
    },
  },
  {
    defect: 'leave of one who is no member rejects',
    caught: 'leave is idempotent',
    rule: 'rejected: no such member',
    make: class extends Delegating {
      override async leave(session: Session, group: string, call: CallOptions): Promise<void> {
        const members = await this.inner.members(group, call)
        if (!members.includes(session.id)) throw new Error('no such member')
        await this.inner.leave(session, group, call)
      }
    },
  },
]
