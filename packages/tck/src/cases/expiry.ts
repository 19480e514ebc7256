import type { SpecTopic } from '../case.js'
import { must } from '../rules.js'
import { all } from '../several.js'

export const expiryTopic: SpecTopic = {
  title: 'expiry and renewal',
  cases: [
    {
      title: 'B1: a session without a renewal expires after its lease duration',
      run: async (world) => {
        const session = await world.openShort()
        await world.expire(session)
        await session.staysExpired(
          'B1',
          'after its lease duration without a renewal',
          world.name(),
          world.name(),
        )
      },
    },
    {
      title: 'B1: a session lives until the end of the remaining time that it was told',
      run: async (world) => {
        // Each one is asked once, since a renewal starts its time anew.
        const parts = [0.3, 0.6, 0.8, 0.9]
        const sessions = await all(parts.map(async (part) => ({ part, session: await world.openShort() })))
        for (const { part, session } of sessions) {
          await world.advanceTo(session.livesUntil - session.remainingMs * (1 - part))
          await session.renew('B1', `after ${part} of the remaining time that it was told`)
        }
      },
    },
    {
      title: 'a renewal prolongs the session by its whole lease duration, from that moment',
      run: async (world) => {
        const session = await world.openShort()
        const first = session.remainingMs
        for (let i = 1; i <= 4; i++) {
          await world.advance(session.remainingMs * 0.6)
          await session.renew('renewal', `after 0.6 of the time that renewal ${i - 1} had told`)
          must(
            session.remainingMs >= first - world.settings.earlyMs,
            'renewal',
            `openSession said that ${first} ms remain, but renewal ${i} only ${session.remainingMs} ms`,
            'count the whole lease duration anew from each keepAlive',
          )
        }
      },
    },
    {
      title: 'B1: a session that is no longer renewed expires after its last renewal',
      run: async (world) => {
        const session = await world.openShort()
        await world.advance(session.remainingMs * 0.3)
        await session.renew()
        await session.renew()
        await session.renew()
        await world.expire(session)
        await session.staysExpired(
          'B1',
          'after its lease duration since the last of several renewals in a row',
          world.name(),
          world.name(),
        )
      },
    },
    {
      title: 'B1: only keepAlive prolongs a session: acquire, release, join, leave and members do not',
      run: async (world) => {
        const [lease, group] = [world.name(), world.name()]
        const session = await world.openShort()
        await world.advance(session.remainingMs * 0.5)
        const token = await session.take(lease)
        await session.take(lease)
        await session.enter(group)
        await world.members(group)
        await session.release(lease, token)
        await session.leave(group)
        await world.expire(session)
        await session.staysExpired('B1', 'after its lease duration without a keepAlive', lease, group)
      },
    },
    {
      title: 'B2: an expired session is not revived by keepAlive, however often it is called',
      run: async (world) => {
        const session = await world.openShort()
        await session.take(world.name())
        await world.expire(session)
        for (let i = 1; i <= 3; i++) {
          const reply = await session.keepAlive()
          must(
            reply.kind === 'expired',
            'B2',
            `keepAlive number ${i} of an expired session, whose lease nobody had taken, answered "${reply.kind}"`,
            'answer "expired" even where the session\'s record is still there; delete it, or mark it',
          )
          await world.advance(world.settings.leaseMs / 4)
        }
      },
    },
    {
      title: 'B2: an expired session cannot acquire, neither a free lease nor the one it had',
      run: async (world) => {
        const [had, free] = world.names(2)
        const session = await world.openShort()
        await session.take(had)
        await world.expire(session)
        for (const name of [had, free, had]) {
          const reply = await session.acquire(name)
          must(
            reply.kind === 'expired',
            'B2',
            `acquire by an expired session answered "${reply.kind}"`,
            'check within acquire, by the clock of the storage, that the session lives',
          )
        }
        const other = await world.open()
        await other.take(had, 'B2', 'after acquires by an expired session')
        await other.take(free, 'B2', 'after acquires by an expired session')
        must(
          (await session.acquire(had)).kind === 'expired',
          'B2',
          'acquire by an expired session, of a lease that another had taken meanwhile, did not answer "expired"',
          'answer "expired" rather than "held": the client must learn that its session is over',
        )
      },
    },
    {
      title: 'B2: an expired session cannot join a group',
      run: async (world) => {
        const group = world.name()
        const session = await world.openShort()
        await world.expire(session)
        for (let i = 0; i < 2; i++) {
          const reply = await session.join(group)
          must(
            reply.kind === 'expired',
            'B2',
            `join by an expired session answered "${reply.kind}"`,
            'check within join, by the clock of the storage, that the session lives',
          )
        }
        await world.expectMembers(group, [], 'B2', 'after joins by an expired session')
      },
    },
    {
      title: 'B2: an expired session stays expired after release, leave and closeSession',
      run: async (world) => {
        const [lease, group] = world.names(2)
        const session = await world.openShort()
        const token = await session.take(lease)
        await session.enter(group)
        await world.expire(session)
        await session.release(lease, token)
        await session.leave(group)
        await session.staysExpired('B2', 'after release and leave by an expired session', lease, group)
        await session.closeSession()
        await session.staysExpired('B2', 'after closeSession of an expired session', lease, group)
      },
    },
    {
      title: 'B2: a session that expired long ago is still expired, and others work on',
      run: async (world) => {
        const session = await world.openShort()
        await world.expire(session)
        await world.advance(2 * world.settings.leaseMs)
        const other = await world.open()
        await other.renew()
        await session.staysExpired(
          'B2',
          'three lease durations after its last renewal',
          world.name(),
          world.name(),
        )
      },
    },
  ],
}
