import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'

export const closingTopic: SpecTopic = {
  title: 'closing a session',
  cases: [
    {
      title: 'closeSession frees all leases of the session at once',
      run: async (world) => {
        const names = world.names(10)
        const [session, other] = [await world.open(), await world.open({ on: world.peer })]
        for (const name of names) await session.take(name)
        await session.closeSession()
        for (const name of names)
          await other.take(name, 'close', 'right after the session that owned it was closed')
      },
    },
    {
      title: 'closeSession ends all memberships of the session at once',
      run: async (world) => {
        const groups = world.names(5)
        const [session, other] = [await world.open(), await world.open({ on: world.peer })]
        for (const group of groups) {
          await session.enter(group)
          await other.enter(group)
        }
        await session.closeSession()
        for (const group of groups)
          await world.expectMembers(group, [other], 'close', 'right after a member was closed')
      },
    },
    {
      title: 'B2: a closed session is expired for good',
      run: async (world) => {
        const [lease, group] = world.names(2)
        const session = await world.open()
        await session.take(lease)
        await session.enter(group)
        await session.closeSession()
        await session.staysExpired('B2', 'after closeSession', lease, group)
        await world.expectMembers(group, [], 'close', 'after closeSession and a join that came late')
      },
    },
    {
      title: 'closeSession is idempotent, for closed, expired and empty sessions',
      run: async (world) => {
        const [closed, empty, expired] = [await world.open(), await world.open(), await world.openShort()]
        await closed.take(world.name())
        await expired.take(world.name())
        await world.expire(expired)
        for (const session of [closed, closed, closed, empty, empty, expired, expired])
          await session.closeSession()
      },
    },
    {
      title: 'closeSession touches no other session',
      run: async (world) => {
        const [mine, theirs, group] = world.names(3)
        const [session, other] = [await world.open(), await world.open()]
        await session.take(mine)
        await session.enter(group)
        const token = await other.take(theirs)
        await other.enter(group)
        await session.closeSession()
        const owned = await other.renew('close', 'after another session was closed')
        must(
          show(owned) === show([{ name: theirs, token }]),
          'close',
          `after another session was closed, keepAlive listed ${show(owned)} instead of ${show([{ name: theirs, token }])}`,
          'let closeSession free only what the session given owns',
        )
        await world.expectMembers(group, [other], 'close', 'after another member was closed')
      },
    },
    {
      title: 'closing a session late, or again, leaves its former leases with their new owners',
      run: async (world) => {
        const [first, second] = world.names(2)
        const [closed, expired, heir] = [await world.open(), await world.openShort(), await world.open()]
        await closed.take(first)
        await expired.take(second)
        await closed.closeSession()
        await world.expire(expired)
        const tokens = [await heir.take(first), await heir.take(second)]
        await closed.closeSession()
        await expired.closeSession()
        const owned = new Map((await heir.renew()).map(({ name, token }) => [name, token]))
        must(
          owned.get(first) === tokens[0] && owned.get(second) === tokens[1],
          'close',
          `after a late closeSession of the former owners, the new owner's keepAlive listed ${show([...owned])}`,
          'free a lease only if the session that is closed still owns it',
        )
      },
    },
    {
      title: 'a member that closed its session may come back with a new one',
      run: async (world) => {
        const group = world.name()
        const session = await world.open()
        await session.enter(group)
        await session.closeSession()
        const again = await world.open()
        await again.enter(group)
        await session.closeSession()
        await session.leave(group)
        await world.expectMembers(
          group,
          [again],
          'close',
          'after a late closeSession and leave of the former session',
        )
      },
    },
  ],
}
