import type { SpecTopic } from '../case.js'
import { must, type Rule, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import { all } from '../several.js'

export const ownedTopic: SpecTopic = {
  title: 'the list of what a session owns',
  cases: [
    {
      title: 'it is empty for a session without leases, also while others have some',
      run: async (world) => {
        const [session, other] = [await world.open(), await world.open()]
        await expectOwned(session, [], 'for a new session')
        await other.take(world.name())
        await expectOwned(session, [], 'while another session owned a lease')
      },
    },
    {
      title: 'it has each lease with the token that acquire gave',
      run: async (world) => {
        const session = await world.open()
        const owned: [string, bigint][] = []
        for (const name of world.names(5)) {
          owned.push([name, await session.take(name)])
          await expectOwned(session, owned, `after ${owned.length} acquires`)
        }
      },
    },
    {
      title: 'it has a lease that was acquired between two renewals',
      run: async (world) => {
        const [early, late] = world.names(2)
        const session = await world.openShort()
        const first = await session.take(early)
        await session.renew()
        await world.advance(session.remainingMs / 2)
        const second = await session.take(late)
        const owned: [string, bigint][] = [
          [early, first],
          [late, second],
        ]
        await expectOwned(session, owned, 'at the renewal after the acquire')
        await world.advance(session.remainingMs / 2)
        await expectOwned(session, owned, 'at the second renewal after the acquire')
      },
    },
    {
      title: 'it has all of a hundred leases',
      run: async (world) => {
        const session = await world.open()
        const owned = await all(
          world.names(100).map(async (name): Promise<[string, bigint]> => [name, await session.take(name)]),
        )
        await expectOwned(session, owned, 'with a hundred leases')
        const kept = owned.filter((_, i) => i % 2 === 0)
        await all(owned.filter((_, i) => i % 2 === 1).map(([name, token]) => session.release(name, token)))
        await expectOwned(session, kept, 'with fifty of a hundred leases released')
      },
    },
    {
      title: 'it does not have a released lease, whoever owns it now',
      run: async (world) => {
        const [free, passed, kept] = world.names(3)
        const [session, other] = [await world.open(), await world.open()]
        await session.release(free, await session.take(free))
        await session.release(passed, await session.take(passed))
        const token = await session.take(kept)
        const passedToken = await other.take(passed)
        await expectOwned(session, [[kept, token]], 'after two of three leases were released')
        await expectOwned(other, [[passed, passedToken]], 'for the session that acquired a released lease')
      },
    },
    {
      title: 'it does not have what another session owns',
      run: async (world) => {
        const sessions = await world.openMany(4)
        const owned: [SpecSession, [string, bigint][]][] = []
        for (const session of sessions) {
          const names = world.names(3)
          const leases: [string, bigint][] = []
          for (const name of names) leases.push([name, await session.take(name)])
          for (const other of sessions) if (other !== session) await other.acquire(names[0])
          owned.push([session, leases])
        }
        for (const [session, leases] of owned)
          await expectOwned(session, leases, 'while others owned leases too')
      },
    },
    {
      title: 'B3: it has what was taken over in the list of the new owner only',
      run: async (world) => {
        const [name, other] = world.names(2)
        const [dead, heir] = [await world.openShort(), await world.open({ on: world.peer })]
        await dead.take(name)
        await dead.take(other)
        await world.expire(dead)
        const token = await heir.take(name, 'B3', 'after its session had expired')
        await expectOwned(heir, [[name, token]], 'after it took one of two leases over', 'B3')
        await dead.staysExpired('B2', 'after one of its leases was taken over', other, world.name())
        await expectOwned(heir, [[name, token]], 'after calls of the expired session', 'B3')
      },
    },
    {
      title: 'it has the new token after a release and another acquire, and the same after a repeated one',
      run: async (world) => {
        const name = world.name()
        const session = await world.open()
        await session.release(name, await session.take(name))
        const token = await session.take(name)
        await expectOwned(session, [[name, token]], 'in the second term of the lease')
        await session.take(name, 'B7', 'owned by this session')
        await expectOwned(session, [[name, token]], 'after the acquire was repeated', 'B7')
      },
    },
    {
      title: 'it does not have groups, even of the same name as a lease',
      run: async (world) => {
        const [shared, group] = world.names(2)
        const session = await world.open()
        await session.enter(group)
        await session.enter(shared)
        await expectOwned(session, [], 'for a member of two groups')
        const token = await session.take(shared)
        await session.leave(shared)
        await expectOwned(
          session,
          [[shared, token]],
          'after the session left the group with the name of its lease',
        )
      },
    },
    {
      title: 'it is right however long the names are',
      run: async (world) => {
        const session = await world.open()
        const owned: [string, bigint][] = []
        for (const length of [64, 100, 127, 128]) {
          const name = world.name().padEnd(length, 'n')
          owned.push([name, await session.take(name)])
        }
        await expectOwned(session, owned, 'with names of up to 128 characters')
      },
    },
  ],
}

/** Fails unless a renewal lists exactly these leases, each once, in any order. */
export async function expectOwned(
  session: SpecSession,
  expected: readonly (readonly [name: string, token: bigint])[],
  when: string,
  rule: Rule = 'owned',
): Promise<void> {
  const seen = (await session.renew()).map(({ name, token }) => `${name}=${show(token)}`)
  const wanted = expected.map(([name, token]) => `${name}=${show(token)}`)
  const missing = wanted.filter((lease) => !seen.includes(lease))
  const extra = seen.filter((lease, i) => !wanted.includes(lease) || seen.indexOf(lease) !== i)
  must(
    missing.length === 0 && extra.length === 0,
    rule,
    `${when}, keepAlive ${missing.length > 0 ? `did not list ${show(missing.slice(0, 3))}` : ''}` +
      `${missing.length > 0 && extra.length > 0 ? ' and ' : ''}` +
      `${extra.length > 0 ? `listed ${show(extra.slice(0, 3))}, which it should not (or not twice)` : ''}` +
      ` (${seen.length} listed, ${wanted.length} expected)`,
    'read the list after the renewal, in the same step: what is missing ends a valid term, and what is too much is released',
  )
}
