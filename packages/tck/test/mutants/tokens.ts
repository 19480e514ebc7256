import type { AcquireReply, CallOptions, KeepAliveReply, Session } from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

/** Shows other tokens than the memory backend gives, one for each of its terms. */
abstract class OtherTokens extends Delegating {
  readonly #shown = new Map<string, { readonly real: bigint; readonly shown: bigint }>()

  /** The token of a new term of this name; `last` is that of the term before. */
  protected abstract next(name: string, last: bigint | undefined): bigint

  override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    const reply = await this.inner.acquire(session, name, call)
    if (reply.kind !== 'granted') return reply
    const known = this.#shown.get(name)
    if (known?.real === reply.token) return { kind: 'granted', token: known.shown }
    const shown = this.next(name, known?.shown)
    this.#shown.set(name, { real: reply.token, shown })
    return { kind: 'granted', token: shown }
  }

  override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    const known = this.#shown.get(name)
    if (known?.shown === token) await this.inner.release(s, name, known.real, call)
  }

  override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    const reply = await this.inner.keepAlive(session, call)
    if (reply.kind !== 'renewed') return reply
    const owned = reply.owned.map(({ name, token }) => ({
      name,
      token: this.#shown.get(name)?.shown ?? token,
    }))
    return { ...reply, owned }
  }
}

export const tokenMutants: readonly Mutant[] = [
  {
    defect: 'the first token is 0',
    caught: 'B4: the first token is a bigint above 0',
    rule: 'B4',
    make: class extends OtherTokens {
      protected next(_: string, last: bigint = -1n): bigint {
        return last + 1n
      }
    },
  },
  {
    defect: 'all terms of a name have one token',
    caught: 'B4: tokens rise from term to term when leases are released',
    rule: 'B4',
    make: class extends OtherTokens {
      protected next(): bigint {
        return 1n
      }
    },
  },
  {
    defect: 'a token is used again after a release',
    caught: 'B4: tokens rise when the same session releases and acquires again and again',
    rule: 'B4',
    make: class extends OtherTokens {
      #released = false

      protected next(_: string, last: bigint = 0n): bigint {
        const next = this.#released && last > 0n ? last : last + 1n
        this.#released = false
        return next
      }

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        this.#released = true
        await super.release(s, name, token, call)
      }
    },
  },
  {
    defect: 'tokens begin anew after an expiry',
    caught: 'B4: tokens rise when sessions expire',
    rule: 'B4',
    make: class extends OtherTokens {
      readonly #held = new Set<string>()

      // Called for a new term: if the name is still marked, its last term was neither released nor closed.
      protected next(name: string, last: bigint = 0n): bigint {
        const hasExpired = this.#held.has(name)
        this.#held.add(name)
        return hasExpired ? 1n : last + 1n
      }

      override async release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
        this.#held.delete(name)
        await super.release(s, name, token, call)
      }

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        for (const { name, holder } of this.inner.contents().leases)
          if (holder === session.id) this.#held.delete(name)
        await super.closeSession(session, call)
      }
    },
  },
  {
    defect: 'tokens begin anew when their owner closes its session',
    caught: 'B4: tokens rise when sessions are closed',
    rule: 'B4',
    make: class extends OtherTokens {
      readonly #closed = new Set<string>()

      protected next(name: string, last: bigint = 0n): bigint {
        return this.#closed.delete(name) ? 1n : last + 1n
      }

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        for (const { name, holder } of this.inner.contents().leases)
          if (holder === session.id) this.#closed.add(name)
        await super.closeSession(session, call)
      }
    },
  },
  {
    defect: 'tokens begin anew when no session is left',
    caught: 'B4: tokens rise across release, expiry and close in turn',
    rule: 'B4',
    make: class extends OtherTokens {
      #empty = false

      protected next(_: string, last: bigint = 0n): bigint {
        const next = this.#empty ? 1n : last + 1n
        this.#empty = false
        return next
      }

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        await super.closeSession(session, call)
        this.#empty = this.inner.contents().sessions.length === 0
      }
    },
  },
  {
    defect: 'tokens go down',
    caught: 'B4: tokens of many names rise, each for itself',
    rule: 'B4',
    make: class extends OtherTokens {
      protected next(_: string, last: bigint = 1_000_000n): bigint {
        return last - 1n
      }
    },
  },
]
