import type { LeaseBackend, Session, SessionId } from '@simba/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { call, leaseMs, opened, world } from './calls.js'

const session = fc.nat({ max: 2 })
const name = fc.constantFrom('a', 'b')
const operation = fc.oneof(
  fc.record({ on: fc.constantFrom('renew' as const, 'close' as const), session }),
  fc.record({ on: fc.constantFrom('acquire' as const, 'release' as const), session, name }),
  fc.record({ on: fc.constantFrom('join' as const, 'leave' as const), session, name }),
  fc.record({ on: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: leaseMs }) }),
)

it('answers as the rules say, whatever three sessions do in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      using w = world()
      const sessions = [await opened(w.backend), await opened(w.backend), await opened(w.backend)]
      const model = new Model(sessions.map(({ id }) => id))
      for (const step of operations) {
        if (step.on === 'wait') {
          w.time.jump(step.ms)
          model.now += step.ms
          continue
        }
        const by = sessions[step.session]
        if (by === undefined) expect.unreachable()
        const subject = 'name' in step ? step.name : ''
        expect(await perform(w.backend, by, step.on, subject, model)).toEqual(model[step.on](by.id, subject))
        for (const group of ['a', 'b']) {
          expect(new Set(await w.backend.members(group, call()))).toEqual(model.members(group))
        }
      }
    }),
    { numRuns: 300 },
  )
})

async function perform(
  backend: LeaseBackend,
  by: Session,
  on: 'renew' | 'close' | 'acquire' | 'release' | 'join' | 'leave',
  subject: string,
  model: Model,
): Promise<unknown> {
  switch (on) {
    case 'renew': {
      const reply = await backend.keepAlive(by, call())
      return reply.kind === 'expired'
        ? 'expired'
        : new Map(reply.owned.map((lease) => [lease.name, lease.token]))
    }
    case 'close':
      return backend.closeSession(by, call())
    case 'acquire': {
      const reply = await backend.acquire(by, subject, call())
      return reply.kind === 'granted' ? reply.token : reply.kind === 'held' ? reply.holder : 'expired'
    }
    case 'release':
      return backend.release(by, subject, model.leases.get(subject)?.token ?? 1n, call())
    case 'join':
      return (await backend.join(by, subject, call())).kind
    case 'leave':
      return backend.leave(by, subject, call())
  }
}

/** The rules word by word: nothing is ever removed, and every question looks at everything. */
class Model {
  now = 0
  readonly leases = new Map<string, { readonly holder: SessionId | undefined; readonly token: bigint }>()
  readonly #expiresAt: Map<SessionId, number>
  readonly #memberships = new Set<string>()
  #lastToken = 0n

  constructor(ids: readonly SessionId[]) {
    this.#expiresAt = new Map(ids.map((id) => [id, leaseMs]))
  }

  renew(id: SessionId): unknown {
    if (!this.#lives(id)) return 'expired'
    this.#expiresAt.set(id, this.now + leaseMs)
    return new Map(
      [...this.leases].filter(([, { holder }]) => holder === id).map(([name, { token }]) => [name, token]),
    )
  }

  close(id: SessionId): void {
    this.#expiresAt.set(id, 0)
  }

  acquire(id: SessionId, name: string): unknown {
    if (!this.#lives(id)) return 'expired'
    const lease = this.leases.get(name)
    if (lease?.holder === id) return lease.token
    if (lease?.holder !== undefined && this.#lives(lease.holder)) return lease.holder
    this.#lastToken++
    this.leases.set(name, { holder: id, token: this.#lastToken })
    return this.#lastToken
  }

  release(id: SessionId, name: string): void {
    const lease = this.leases.get(name)
    if (lease?.holder === id) this.leases.set(name, { holder: undefined, token: lease.token })
  }

  join(id: SessionId, group: string): string {
    if (!this.#lives(id)) return 'expired'
    this.#memberships.add(`${id} ${group}`)
    return 'joined'
  }

  leave(id: SessionId, group: string): void {
    this.#memberships.delete(`${id} ${group}`)
  }

  members(group: string): Set<SessionId> {
    return new Set(
      [...this.#expiresAt.keys()].filter((id) => this.#lives(id) && this.#memberships.has(`${id} ${group}`)),
    )
  }

  #lives(id: SessionId): boolean {
    return this.now < (this.#expiresAt.get(id) ?? 0)
  }
}
