import type { OwnedLease } from '@simba/core'
import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import { all, inParallel } from '../several.js'
import type { World } from '../world.js'
import { expectOwned } from './owned.js'
import { RisingTokens } from './tokens.js'

export const concurrencyTopic: SpecTopic = {
  title: 'concurrency',
  cases: [
    {
      title: 'of two sessions that race for a free lease, one gets it',
      run: async (world) => {
        const sessions = await world.openMany(2)
        for (let round = 0; round < 30; round++) await raceForFree(world, world.name(), sessions)
      },
    },
    {
      title:
        'of eight sessions that race for a lease again and again, one gets it each time, with a larger token',
      run: async (world) => {
        const tokens = new RisingTokens(world.name())
        const sessions = await world.openMany(8)
        for (let round = 0; round < 15; round++) {
          const [winner, token] = await raceForFree(world, tokens.name, sessions)
          tokens.next(token, 'after a release, in a race')
          await winner.release(tokens.name, token)
        }
      },
    },
    {
      title: 'of four sessions that race for a hundred leases, each lease goes to one',
      run: async (world) => {
        const names = world.names(100)
        const sessions = await world.openMany(4)
        const owned = new Map(sessions.map((session) => [session, [] as [string, bigint][]]))
        const winners = new Map<string, number>()
        await all(
          sessions.flatMap((session) =>
            names.map(async (name) => {
              const reply = await session.acquire(name)
              if (reply.kind !== 'granted') return
              owned.get(session)?.push([name, reply.token])
              winners.set(name, (winners.get(name) ?? 0) + 1)
            }),
          ),
        )
        for (const name of names) {
          const count = winners.get(name) ?? 0
          must(
            count === 1,
            'one owner',
            `of four acquires of "${name}" at once, ${count} were granted`,
            'make the check and the change one atomic step of the storage',
          )
        }
        for (const [session, leases] of owned) await expectOwned(session, leases, 'after four sessions raced')
      },
    },
    {
      title: 'B7: acquires of one session for one lease at once give one term',
      run: async (world) => {
        const session = await world.open()
        for (let round = 0; round < 10; round++) {
          const name = world.name()
          const taken = await inParallel(5, () =>
            session.take(name, 'B7', 'five times at once by one session'),
          )
          must(
            new Set(taken).size === 1,
            'B7',
            `five acquires of one lease at once by one session gave the tokens ${show(taken)}`,
            'give the token of the term in force to the session that owns it',
          )
          await expectOwned(session, [[name, taken[0]]], 'after five acquires at once', 'B7')
          await session.release(name, taken[0])
        }
      },
    },
    {
      title: 'of a release and an acquire by another at once, both are carried out',
      run: async (world) => {
        const tokens = new RisingTokens(world.name())
        const sessions = await world.openMany(2)
        let [owner, other] = sessions
        let token = await owner.take(tokens.name)
        for (let round = 0; round < 20; round++) {
          tokens.next(token, 'after a release that raced with the acquire')
          const [, reply] = await all([owner.release(tokens.name, token), other.acquire(tokens.name)])
          token =
            reply.kind === 'granted'
              ? reply.token
              : await other.take(tokens.name, 'release', 'released while another session tried for it')
          await expectOwned(other, [[tokens.name, token]], 'after an acquire that raced with a release')
          await expectOwned(owner, [], 'after a release that raced with an acquire')
          ;[owner, other] = [other, owner]
        }
      },
    },
    {
      title: 'keepAlive lists what is owned throughout, while other leases are acquired and released',
      run: async (world) => {
        const session = await world.open()
        const log = new TermLog()
        const stable = world.names(5)
        await all(stable.map((name) => log.acquire(session, name)))
        let busy = true
        const renewals = async () => {
          while (busy) await log.renew(session)
        }
        const turnover = inParallel(8, async () => {
          const name = world.name()
          for (let i = 0; i < 6; i++) await log.release(session, name, await log.acquire(session, name))
        }).finally(() => {
          busy = false
        })
        await all([turnover, renewals()])
        await expectOwned(session, log.now(), 'after many acquires and releases at once')
      },
    },
    {
      title: 'many sessions work at once without disturbing each other',
      run: async (world) => {
        const sessions = await world.openMany(10)
        const group = world.name()
        await all(
          sessions.map(async (session) => {
            const names = world.names(5)
            const owned: [string, bigint][] = []
            await session.enter(group)
            for (const name of names) owned.push([name, await session.take(name)])
            await expectOwned(session, owned, 'while other sessions worked')
            const [first] = owned
            if (first !== undefined) await session.release(...first)
            await expectOwned(session, owned.slice(1), 'after a release, while other sessions worked')
          }),
        )
        await world.expectMembers(group, sessions, 'groups', 'after ten sessions joined at once')
      },
    },
  ],
}

/** All try at once; fails unless one gets the lease and the others hear that it is held. */
async function raceForFree(
  world: World,
  name: string,
  sessions: readonly SpecSession[],
): Promise<[SpecSession, bigint]> {
  const replies = await all(sessions.map(async (session) => [session, await session.acquire(name)] as const))
  const granted = replies.flatMap(([session, reply]) =>
    reply.kind === 'granted' ? [[session, reply.token] as [SpecSession, bigint]] : [],
  )
  const [winner] = granted
  must(
    winner !== undefined && granted.length === 1 && replies.every(([, { kind }]) => kind !== 'expired'),
    'one owner',
    `${sessions.length} acquires of a free lease at once were answered ${show(replies.map(([, { kind }]) => kind))}`,
    'make the check and the change one atomic step of the storage: one is granted, the others are "held"',
  )
  const later = await world.open()
  await later.refused(name, winner[0], 'one owner', 'after a race that one session had won')
  await later.closeSession()
  return winner
}

/** Which terms a session has for sure, at each moment: those whose acquire was answered and whose release was not yet sent. */
class TermLog {
  readonly #held = new Map<string, bigint>()
  /** Terms whose release was answered. */
  readonly #over = new Set<string>()

  async acquire(session: SpecSession, name: string): Promise<bigint> {
    const token = await session.take(name)
    this.#held.set(name, token)
    return token
  }

  async release(session: SpecSession, name: string, token: bigint): Promise<void> {
    this.#held.delete(name)
    await session.release(name, token)
    this.#over.add(`${name}=${token}`)
  }

  now(): [string, bigint][] {
    return [...this.#held]
  }

  /** Fails unless the list has what was owned before the request and after the reply, and nothing that was over before. */
  async renew(session: SpecSession): Promise<void> {
    const [before, over] = [this.now(), new Set(this.#over)]
    const listed = await session.renew()
    const has = (name: string, token: bigint) =>
      listed.some((lease: OwnedLease) => lease.name === name && lease.token === token)
    for (const [name, token] of before) {
      must(
        this.#held.get(name) !== token || has(name, token),
        'owned',
        `"${name}" with token ${token} was owned before keepAlive was sent and after it was answered, but was not listed`,
        'read the list in the same atomic step as the renewal',
      )
    }
    for (const { name, token } of listed) {
      must(
        !over.has(`${name}=${token}`),
        'owned',
        `keepAlive listed "${name}" with token ${token}, whose release had been answered before`,
        'read the list in the same atomic step as the renewal',
      )
    }
  }
}
