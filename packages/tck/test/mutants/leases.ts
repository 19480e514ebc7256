import type { AcquireReply, CallOptions, KeepAliveReply, Session, SessionId } from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

export const leaseMutants: readonly Mutant[] = [
  {
    defect: 'acquire is granted to all',
    caught: 'a lease is granted to one session and held for all others',
    rule: '"one owner"',
    make: class extends Delegating {
      #token = 1_000_000n

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        return reply.kind === 'held' ? { kind: 'granted', token: ++this.#token } : reply
      }
    },
  },
  {
    defect: 'acquire names the wrong holder',
    caught: 'a lease is granted to one session and held for all others',
    rule: '"one owner"',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        return reply.kind === 'held' ? { kind: 'held', holder: session.id } : reply
      }
    },
  },
  {
    defect: 'a repeated acquire begins a new term',
    caught: 'B7: an acquire by the owner is granted again, with the same token',
    rule: 'B7',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const term = this.termOf(name)
        if (term?.holder.id === session.id) await this.inner.release(session, name, term.token, call)
        return this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'a repeated acquire is answered held',
    caught: 'B7: an acquire by the owner is granted again, with the same token',
    rule: 'B7',
    make: class extends Delegating {
      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const holder = this.termOf(name)?.holder.id
        return holder === session.id ? { kind: 'held', holder } : this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'acquires are counted, and as many releases needed',
    caught: 'B7: an acquire by the owner is granted again, with the same token',
    rule: 'B7',
    make: class extends Delegating {
      readonly #counts = new Map<string, number>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted') this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
        return reply
      }

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        const count = (this.#counts.get(name) ?? 1) - 1
        this.#counts.set(name, count)
        if (count === 0) await this.inner.release(s, name, token, call)
      }
    },
  },
  {
    defect: 'release ignores the token',
    caught: 'B5: a release with a wrong token changes nothing',
    rule: 'B5',
    make: class extends Delegating {
      override async release(s: Session, name: string, _: bigint, call: CallOptions): Promise<void> {
        await this.inner.release(s, name, this.termOf(name)?.token ?? 0n, call)
      }
    },
  },
  {
    defect: 'release takes any token that is not smaller',
    caught: 'B5: a release with a wrong token changes nothing',
    rule: 'B5',
    make: class extends Delegating {
      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        const term = this.termOf(name)
        if (term !== undefined && token >= term.token) await this.inner.release(s, name, term.token, call)
      }
    },
  },
  {
    defect: 'release ignores the session',
    caught: 'B5: a release by another session changes nothing',
    rule: 'B5',
    make: class extends Delegating {
      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        await this.inner.release(this.termOf(name)?.holder ?? s, name, token, call)
      }
    },
  },
  {
    defect: 'release leaves the lease until its session ends',
    caught: 'a released lease is free at once',
    rule: '"release"',
    make: class extends Delegating {
      override async release(): Promise<void> {}
    },
  },
  {
    defect: 'a released lease is kept back for the session that had it',
    caught: 'a released lease is free at once',
    rule: '"release"',
    make: class extends Delegating {
      readonly #last = new Map<string, SessionId>()

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        if (this.termOf(name)?.holder.id === s.id) this.#last.set(name, s.id)
        await this.inner.release(s, name, token, call)
      }

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const last = this.#last.get(name)
        this.#last.delete(name)
        if (last !== undefined && last !== session.id) return { kind: 'held' }
        return this.inner.acquire(session, name, call)
      }
    },
  },
  {
    defect: 'a session that was refused gets the lease later',
    caught: 'a refused acquire leaves nothing behind that could win later',
    rule: '"one owner"',
    make: class extends Delegating {
      readonly #queue = new Map<string, Session>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'held') this.#queue.set(name, session)
        return reply
      }

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        await this.inner.release(s, name, token, call)
        const next = this.#queue.get(name)
        this.#queue.delete(name)
        if (next !== undefined) await this.inner.acquire(next, name, call)
      }
    },
  },
  {
    defect: 'a lease is taken from a session that was renewed, by the expiry from before',
    caught: 'B3: renewals keep a lease for many lease durations',
    rule: 'B3',
    make: class extends Delegating {
      readonly #takenAt = new Map<string, number>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const term = this.termOf(name)
        const age = this.time.now() - (this.#takenAt.get(name) ?? this.time.now())
        if (term !== undefined && term.holder.id !== session.id && age >= session.leaseMs / 30)
          await this.inner.release(term.holder, name, term.token, call)
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted' && term?.holder.id !== session.id)
          this.#takenAt.set(name, this.time.now())
        return reply
      }
    },
  },
  {
    defect: 'the lease of an expired session stays held until a clean-up that runs seldom',
    caught: 'B1: a lease is not granted to another before the time that its owner was told, and soon after',
    rule: 'B1',
    make: class extends Delegating {
      readonly #heldUntil = new Map<string, { readonly holder: SessionId; readonly until: number }>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const held = this.#heldUntil.get(name)
        const isLive = this.inner.contents().sessions.some(({ id }) => id === held?.holder)
        if (held !== undefined && !isLive && this.time.now() < held.until) return { kind: 'held' }
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted')
          this.#heldUntil.set(name, { holder: session.id, until: this.time.now() + 3 * session.leaseMs })
        return reply
      }

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        await this.inner.release(s, name, token, call)
        if (this.termOf(name) === undefined) this.#heldUntil.delete(name)
      }
    },
  },
  {
    defect: 'a lease acquired between two renewals is not prolonged by the second',
    caught: 'B3: a lease acquired between two renewals lives as long as its session',
    rule: 'B3',
    make: class extends Delegating {
      readonly #ends = new Map<string, number>()
      readonly #known = new Map<SessionId, Set<string>>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const term = this.termOf(name)
        const isOver = this.time.now() >= (this.#ends.get(name) ?? Number.POSITIVE_INFINITY)
        if (term !== undefined && isOver) await this.inner.release(term.holder, name, term.token, call)
        const reply = await this.inner.acquire(session, name, call)
        const isNew = reply.kind === 'granted' && reply.token !== term?.token
        if (isNew) this.#ends.set(name, this.time.now() + session.leaseMs)
        return reply
      }

      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const reply = await this.inner.keepAlive(session, call)
        if (reply.kind !== 'renewed') return reply
        const known = this.#known.get(session.id) ?? new Set(reply.owned.slice(0, 1).map(({ name }) => name))
        for (const name of known) this.#ends.set(name, this.time.now() + session.leaseMs)
        this.#known.set(session.id, known)
        return reply
      }
    },
  },
]
