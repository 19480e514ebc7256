import type { AcquireReply, CallOptions, KeepAliveReply, Session, SessionId } from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

/** As a round trip to a storage between two statements. */
async function roundTrip(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Promise.resolve()
}

export const raceMutants: readonly Mutant[] = [
  {
    defect: 'acquire reads, then decides, then writes',
    caught: 'of two sessions that race for a free lease, one gets it',
    rule: '"one owner"',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const seen = this.termOf(name)
        await roundTrip()
        if (seen !== undefined) return this.inner.acquire(session, name, call)
        const now = this.termOf(name)
        if (now !== undefined && now.holder.id !== session.id)
          await this.inner.release(now.holder, name, now.token, call)
        return this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'a takeover decides by an expiry that it read before a renewal',
    caught: 'a takeover and a renewal at the moment of expiry do not both succeed',
    rule: '"one owner"',
    make: class extends Delegating {
      readonly #endsAt = new Map<SessionId, number>()

      // The inner sessions live longer than they are told, so that only the map decides.
      override async openSession(request: { leaseMs: number; metadata: string }, call: CallOptions) {
        const { id } = await this.inner.openSession({ ...request, leaseMs: 1e9 }, call)
        this.#endsAt.set(id, this.time.now() + request.leaseMs)
        return { id, remainingMs: request.leaseMs }
      }

      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        if (this.time.now() >= (this.#endsAt.get(session.id) ?? 0)) return { kind: 'expired' }
        await roundTrip()
        const reply = await this.inner.keepAlive({ ...session, leaseMs: 1e9 }, call)
        if (reply.kind !== 'renewed') return reply
        this.#endsAt.set(session.id, this.time.now() + session.leaseMs)
        return { ...reply, remainingMs: session.leaseMs }
      }

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const term = this.termOf(name)
        // Expired a little early, as seen by a clock that is ahead: the renewal in flight is still in time.
        const ended = term !== undefined && this.time.now() + 1 >= (this.#endsAt.get(term.holder.id) ?? 0)
        await roundTrip()
        await roundTrip()
        if (ended) await this.inner.release(term.holder, name, term.token, call)
        return this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'two takeovers of one lease at once both succeed',
    caught: 'of two sessions that take over at the moment of expiry, at most one gets the lease',
    rule: '"one owner"',
    make: class extends Delegating {
      readonly #last = new Map<string, SessionId>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const last = this.#last.get(name)
        const expired = last !== undefined && !this.inner.contents().sessions.some(({ id }) => id === last)
        await roundTrip()
        const now = this.termOf(name)
        if (expired && now !== undefined) await this.inner.release(now.holder, name, now.token, call)
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted') this.#last.set(name, session.id)
        return reply
      }
    },
  },
  {
    defect: 'release compares the term first, and frees the lease later',
    caught: 'B5: a release at the moment of expiry does not free the lease for two',
    rule: 'B5',
    make: class extends Delegating {
      readonly #owner = new Map<string, { readonly id: SessionId; readonly token: bigint }>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted') this.#owner.set(name, { id: session.id, token: reply.token })
        return reply
      }

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        const owner = this.#owner.get(name)
        const matches = owner?.id === s.id && owner.token === token
        await roundTrip()
        const term = this.termOf(name)
        if (matches && term !== undefined) await this.inner.release(term.holder, name, term.token, call)
      }
    },
  },
  {
    defect: 'closeSession frees the leases that it read before, whoever has them now',
    caught: 'an acquire of one session and the closing of the owner at once leave one owner',
    rule: '"close"',
    make: class extends Delegating {
      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        const had = this.inner.contents().leases.filter(({ holder }) => holder === session.id)
        await this.inner.closeSession(session, call)
        await roundTrip()
        for (const { name } of had) {
          const term = this.termOf(name)
          if (term !== undefined) await this.inner.release(term.holder, name, term.token, call)
        }
      }
    },
  },
  {
    defect: 'keepAlive reads the list some time before it answers',
    caught: 'keepAlive lists what is owned throughout, while other leases are acquired and released',
    rule: '"owned"',
    make: class extends Delegating {
      readonly #cache = new Map<SessionId, KeepAliveReply>()

      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const before = this.#cache.get(session.id)
        const reply = await this.inner.keepAlive(session, call)
        this.#cache.set(session.id, reply)
        // Half of the renewals answer with the list of the renewal before.
        if (before?.kind !== 'renewed' || reply.kind !== 'renewed' || reply.owned.length < 6) return reply
        return { ...reply, owned: before.owned }
      }
    },
  },
  {
    defect: 'of acquires at once by one session, each begins a term',
    caught: 'B7: acquires of one session for one lease at once give one term',
    rule: 'B7',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const seen = this.termOf(name)
        await roundTrip()
        const now = this.termOf(name)
        if (seen === undefined && now?.holder.id === session.id)
          await this.inner.release(session, name, now.token, call)
        return this.inner.acquire(session, name, call)
      }
    },
  },
]
