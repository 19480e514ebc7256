import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'
import { all, several } from '../several.js'

export const tokensTopic: SpecTopic = {
  title: 'tokens',
  cases: [
    {
      title: 'B4: the first token is a bigint above 0',
      run: async (world) => {
        const session = await world.open()
        // `take` checks each token.
        for (const name of world.names(5)) await session.take(name)
      },
    },
    {
      title: 'B4: tokens rise from term to term when leases are released',
      run: async (world) => {
        const name = world.name()
        const tokens = new RisingTokens(name)
        const sessions = await world.openMany(3)
        for (let i = 0; i < 5; i++) {
          for (const session of sessions) {
            const token = await session.take(name)
            tokens.next(token, 'after a release')
            await session.release(name, token)
          }
        }
      },
    },
    {
      title: 'B4: tokens rise when the same session releases and acquires again and again',
      run: async (world) => {
        const name = world.name()
        const tokens = new RisingTokens(name)
        const session = await world.open()
        for (let i = 0; i < 20; i++) {
          const token = await session.take(name)
          tokens.next(token, 'after a release by the same session')
          await session.release(name, token)
        }
      },
    },
    {
      title: 'B4: tokens rise when sessions are closed',
      run: async (world) => {
        const name = world.name()
        const tokens = new RisingTokens(name)
        for (let i = 0; i < 5; i++) {
          const session = await world.open({ on: i % 2 === 0 ? world.backend : world.peer })
          tokens.next(await session.take(name), 'after closeSession of its owner')
          await session.closeSession()
        }
      },
    },
    {
      title: 'B4: tokens rise when sessions expire',
      run: async (world) => {
        const [name, untouched] = world.names(2)
        const tokens = new RisingTokens(name)
        for (let i = 0; i < 3; i++) {
          const session = await world.openShort({ on: i % 2 === 0 ? world.backend : world.peer })
          tokens.next(await session.take(name), 'after its owner had expired')
          if (i === 0) await session.take(untouched)
          await world.expire(session)
        }
        const last = await world.open()
        tokens.next(await last.take(name), 'after its owner had expired')
        await last.take(untouched)
      },
    },
    {
      title: 'B4: tokens rise across release, expiry and close in turn, and when nobody is left',
      run: async (world) => {
        const name = world.name()
        const tokens = new RisingTokens(name)
        const released = await world.open()
        const token = await released.take(name)
        tokens.next(token, 'at first')
        await released.release(name, token)
        await released.closeSession()

        const expired = await world.openShort()
        tokens.next(await expired.take(name), 'after a release, when no session was left')
        await world.expire(expired)
        await world.advance(2 * world.settings.leaseMs)

        const closed = await world.open()
        tokens.next(await closed.take(name), 'three lease durations after its last owner had expired')
        await closed.closeSession()
        await closed.closeSession()

        const last = await world.open()
        tokens.next(await last.take(name), 'after closeSession was repeated')
      },
    },
    {
      title: 'B4: a token is not used again when a release is late or repeated',
      run: async (world) => {
        const name = world.name()
        const tokens = new RisingTokens(name)
        const [one, other] = [await world.open(), await world.open()]
        for (let i = 0; i < 3; i++) {
          const first = await one.take(name)
          tokens.next(first, 'after a release')
          await one.release(name, first)
          await one.release(name, first)
          const second = await other.take(name)
          tokens.next(second, 'after a repeated release')
          await one.release(name, first)
          await other.release(name, second)
        }
      },
    },
    {
      title: 'B4: tokens of many names rise, each for itself',
      run: async (world) => {
        const names = several(20, () => new RisingTokens(world.name()))
        const session = await world.open()
        for (let i = 0; i < 3; i++) {
          const taken = await all(names.map(async ({ name }) => session.take(name)))
          for (const [index, tokens] of names.entries()) tokens.next(taken[index] ?? 0n, 'after a release')
          await all(names.map(({ name, last }) => session.release(name, last)))
        }
      },
    },
  ],
}

/** The tokens of one name, in the order of its terms. */
export class RisingTokens {
  readonly name: string
  last = 0n

  constructor(name: string) {
    this.name = name
  }

  next(token: bigint, when: string): void {
    must(
      token > this.last,
      'B4',
      `${when}, the next term of "${this.name}" got the token ${show(token)}; the term before it had ${show(this.last)}`,
      'count on from the greatest token that the name ever had, and keep that count while the lease is free',
    )
    this.last = token
  }
}
