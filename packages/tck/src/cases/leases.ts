import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'
import type { SpecSession } from '../session.js'

export const leasesTopic: SpecTopic = {
  title: 'leases',
  cases: [
    {
      title: 'a lease is granted to one session and held for all others',
      run: async (world) => {
        const name = world.name()
        const [owner, ...others] = await world.openMany(4)
        await owner.take(name)
        for (const other of others) await other.refused(name, owner, 'one owner', 'while its owner lived')
        await owner.renew()
        for (const other of others)
          await other.refused(name, owner, 'one owner', 'after its owner had renewed its session')
      },
    },
    {
      title: 'B7: an acquire by the owner is granted again, with the same token',
      run: async (world) => {
        const name = world.name()
        const [owner, other] = [await world.open(), await world.open()]
        const token = await owner.take(name)
        const again = async (when: string) => {
          const repeated = await owner.take(name, 'B7', when)
          must(
            repeated === token,
            'B7',
            `an acquire by the owner ${when} gave token ${show(repeated)}; its term has ${show(token)}`,
            'begin a new term only if the lease was not owned by this very session',
          )
        }
        await again('right after the first')
        await again('for the third time')
        await owner.renew()
        await again('after a renewal')
        await other.refused(name, owner, 'one owner', 'while its owner lived')
        await again('after another session was refused')
        await owner.release(name, token)
        await other.take(name, 'B7', 'released after several acquires: they are one term, and do not count')
      },
    },
    {
      title: 'a released lease is free at once, for others and for the same session',
      run: async (world) => {
        const name = world.name()
        const [one, other] = [await world.open(), await world.open({ on: world.peer })]
        for (let i = 0; i < 3; i++) {
          await one.release(name, await one.take(name, 'release', 'released by another session'))
          await one.release(name, await one.take(name, 'release', 'released by this session'))
          await other.release(name, await other.take(name, 'release', 'released by another session'))
        }
      },
    },
    {
      title: 'B5: a release with a wrong token changes nothing',
      run: async (world) => {
        const name = world.name()
        const [owner, other] = [await world.open(), await world.open()]
        const token = await owner.take(name)
        for (const wrong of [token + 1n, token - 1n, 0n, token + 2n ** 32n, 2n ** 63n - 1n]) {
          await owner.release(name, wrong)
          await keptBy(owner, other, name, token, `a release with token ${wrong} instead of ${token}`)
        }
      },
    },
    {
      title: 'B5: a release by another session changes nothing, even with the right token',
      run: async (world) => {
        const name = world.name()
        const [owner, other, third] = [await world.open(), await world.open(), await world.open()]
        const token = await owner.take(name)
        await other.release(name, token)
        await third.release(name, token)
        await keptBy(owner, other, name, token, 'a release by a session that did not own the lease')
      },
    },
    {
      title: 'B5: a late release cannot free a later term of the same session',
      run: async (world) => {
        const name = world.name()
        const [owner, other] = [await world.open(), await world.open()]
        const first = await owner.take(name)
        await owner.release(name, first)
        const second = await owner.take(name)
        await owner.release(name, first)
        await keptBy(owner, other, name, second, `a late release of its former term ${first}`)
      },
    },
    {
      title: 'B5: a late release cannot free a later term of another session',
      run: async (world) => {
        const [released, expired] = world.names(2)
        const [before, dead] = [await world.open(), await world.openShort()]
        const [owner, other] = [await world.open(), await world.open()]
        const first = await before.take(released)
        const second = await dead.take(expired)
        await before.release(released, first)
        await world.expire(dead)
        const tokens = [await owner.take(released), await owner.take(expired)] as const
        await before.release(released, first)
        await before.release(released, tokens[0])
        await dead.release(expired, second)
        await dead.release(expired, tokens[1])
        await keptBy(owner, other, released, tokens[0], 'a late release by the session that had it before')
        await keptBy(owner, other, expired, tokens[1], 'a late release by an expired session')
      },
    },
    {
      title: 'release is idempotent, also for a lease that never was',
      run: async (world) => {
        const [name, never] = world.names(2)
        const session = await world.open()
        const token = await session.take(name)
        for (let i = 0; i < 3; i++) await session.release(name, token)
        await session.release(never, 1n)
        await session.take(never, 'release', 'after a release of it, which nobody had ever acquired')
        await session.take(name, 'release', 'after its release was repeated')
      },
    },
    {
      title: 'a release frees one lease and leaves the others of the session',
      run: async (world) => {
        const names = world.names(3)
        const [owner, other] = [await world.open(), await world.open()]
        await owner.take(names[0])
        const token = await owner.take(names[1])
        await owner.take(names[2])
        await owner.release(names[1], token)
        await other.take(names[1], 'release', 'released by its owner')
        for (const i of [0, 2] as const)
          await other.refused(names[i], owner, 'release', 'after its owner had released another')
      },
    },
    {
      title: 'a refused acquire leaves nothing behind that could win later',
      run: async (world) => {
        const name = world.name()
        const [owner, other, third] = [await world.open(), await world.open(), await world.open()]
        const token = await owner.take(name)
        for (let i = 0; i < 3; i++) await other.refused(name, owner, 'one owner', 'while its owner lived')
        await owner.release(name, token)
        await third.take(
          name,
          'one owner',
          'released; a session that had been refused earlier must not get it by that',
        )
        const owned = await other.renew()
        must(
          owned.length === 0,
          'one owner',
          `a session whose only acquires were answered "held" owns ${show(owned)}`,
          'let acquire make one attempt, and queue nothing',
        )
      },
    },
  ],
}

/** Fails unless the lease is still the owner's, with the same token. */
async function keptBy(
  owner: SpecSession,
  other: SpecSession,
  name: string,
  token: bigint,
  after: string,
): Promise<void> {
  await other.refused(name, owner, 'B5', `after ${after}`)
  const owned = await owner.renew()
  must(
    owned.some((lease) => lease.name === name && lease.token === token),
    'B5',
    `after ${after}, the owner's keepAlive listed ${show(owned)}, without ${show({ name, token })}`,
    'free the lease only where session and token are both those of the term in force',
  )
}
