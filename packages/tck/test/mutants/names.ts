import type { AcquireReply, CallOptions, JoinReply, KeepAliveReply, Session, SessionId } from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

/** Stores names in another form than they were given in. */
abstract class OtherNames extends Delegating {
  readonly #given = new Map<string, string>()

  protected abstract stored(name: string, kind: 'lease' | 'group'): string

  #store(name: string, kind: 'lease' | 'group'): string {
    const stored = this.stored(name, kind)
    if (!this.#given.has(stored)) this.#given.set(stored, name)
    return stored
  }

  override acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
    return this.inner.acquire(session, this.#store(name, 'lease'), call)
  }

  override release(s: Session, name: string, token: bigint, call: CallOptions): Promise<void> {
    return this.inner.release(s, this.#store(name, 'lease'), token, call)
  }

  override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
    const reply = await this.inner.keepAlive(session, call)
    if (reply.kind !== 'renewed') return reply
    const owned = reply.owned.map(({ name, token }) => ({ name: this.#given.get(name) ?? name, token }))
    return { ...reply, owned }
  }

  override join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
    return this.inner.join(session, this.#store(group, 'group'), call)
  }

  override leave(session: Session, group: string, call: CallOptions): Promise<void> {
    return this.inner.leave(session, this.#store(group, 'group'), call)
  }

  override members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
    return this.inner.members(this.#store(group, 'group'), call)
  }
}

export const nameMutants: readonly Mutant[] = [
  {
    defect: 'lease names are not case-sensitive',
    caught: 'names are case-sensitive',
    rule: '"names"',
    make: class extends OtherNames {
      protected stored(name: string, kind: string): string {
        return kind === 'lease' ? name.toLowerCase() : name
      }
    },
  },
  {
    defect: 'group names are not case-sensitive',
    caught: 'groups are told apart as leases are',
    rule: '"names"',
    make: class extends OtherNames {
      protected stored(name: string, kind: string): string {
        return kind === 'group' ? name.toLowerCase() : name
      }
    },
  },
  {
    defect: 'names are cut after 127 characters',
    caught: 'names of 128 characters are told apart',
    rule: '"names"',
    make: class extends OtherNames {
      protected stored(name: string): string {
        return name.slice(0, 127)
      }
    },
  },
  {
    defect: 'names of more than 100 characters are refused',
    caught: 'names of 128 characters are told apart',
    rule: 'rejected: name too long',
    make: class extends OtherNames {
      protected stored(name: string): string {
        if (name.length > 100) throw new Error('name too long')
        return name
      }
    },
  },
  {
    defect: 'dots and colons at the end are dropped',
    caught: 'dots, colons, dashes and underscores count at the beginning and the end',
    rule: '"names"',
    make: class extends OtherNames {
      protected stored(name: string): string {
        return name.replace(/[.:]+$/, '')
      }
    },
  },
  {
    defect: 'an underscore stands for any character',
    caught: 'no character of a name stands for others',
    rule: '"names"',
    make: class extends OtherNames {
      protected stored(name: string): string {
        return name.replace(/[_.:-]/g, '_')
      }
    },
  },
  {
    defect: 'names are cut at the first dot after the beginning of the path',
    caught: 'a name is told from its prefixes and from longer names',
    rule: '"names"',
    make: class extends OtherNames {
      protected stored(name: string): string {
        return name
          .split('.')
          .slice(0, 4)
          .join('.')
          .replace(/(\.\d+)\.10$/, '$1.1')
      }
    },
  },
  {
    defect: 'names are kept as the keys of an object',
    caught: 'names that mean something to a language',
    rule: '"names"',
    make: class extends Delegating {
      readonly #tokens: Record<string, bigint> = {}

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted') this.#tokens[name] = reply.token
        return reply
      }

      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        const reply = await this.inner.keepAlive(session, call)
        if (reply.kind !== 'renewed') return reply
        return { ...reply, owned: reply.owned.filter(({ name }) => Object.keys(this.#tokens).includes(name)) }
      }
    },
  },
  {
    defect: 'leases and groups share their names',
    caught: 'a group and a lease of the same name do not disturb each other',
    rule: '"names"',
    make: class extends Delegating {
      override async join(session: Session, group: string, call: CallOptions): Promise<JoinReply> {
        const reply = await this.inner.join(session, group, call)
        if (reply.kind === 'joined') await this.inner.acquire(session, group, call)
        return reply
      }

      override async members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
        const holder = this.termOf(group)?.holder.id
        const members = await this.inner.members(group, call)
        return holder === undefined ? members : [...new Set([...members, holder])]
      }
    },
  },
]
