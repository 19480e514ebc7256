import type { SpecTopic } from '../case.js'
import { all, several } from '../several.js'

export const groupsTopic: SpecTopic = {
  title: 'groups',
  cases: [
    {
      title: 'a group that nobody joined has no members',
      run: (world) => world.expectMembers(world.name(), [], 'groups', 'before anybody joined'),
    },
    {
      title: 'a join that has returned is in the view, through every backend object',
      run: async (world) => {
        const group = world.name()
        const sessions = await world.openMany(5)
        for (const [i, session] of sessions.entries()) {
          await session.enter(group)
          await world.expectMembers(group, sessions.slice(0, i + 1), 'groups', `after ${i + 1} joins`)
        }
      },
    },
    {
      title: 'join is idempotent: a member is listed once, and one leave ends it',
      run: async (world) => {
        const group = world.name()
        const [session, other] = [await world.open(), await world.open()]
        await other.enter(group)
        for (let i = 0; i < 3; i++) await session.enter(group)
        await world.expectMembers(group, [session, other], 'groups', 'after a repeated join')
        await session.leave(group)
        await world.expectMembers(group, [other], 'groups', 'after one leave for several joins')
      },
    },
    {
      title: 'leave is idempotent, also for one who never was a member, and ends no other membership',
      run: async (world) => {
        const [group, never] = world.names(2)
        const [session, other] = [await world.open(), await world.open()]
        await session.enter(group)
        await other.enter(group)
        await session.leave(group)
        await session.leave(group)
        await session.leave(never)
        await world.expectMembers(group, [other], 'groups', 'after one of two members left twice')
        await world.expectMembers(never, [], 'groups', 'after a leave of a group that nobody had joined')
      },
    },
    {
      title: 'a member may leave and join again, many times',
      run: async (world) => {
        const group = world.name()
        const session = await world.open()
        for (let i = 1; i <= 5; i++) {
          await session.enter(group)
          await world.expectMembers(group, [session], 'groups', `after join ${i}`)
          await session.leave(group)
          await world.expectMembers(group, [], 'groups', `after leave ${i}`)
        }
      },
    },
    {
      title: 'a session can be in several groups, and leaves one of them only',
      run: async (world) => {
        const [one, two, three] = world.names(3)
        const session = await world.open()
        for (const group of [one, two, three]) await session.enter(group)
        await session.leave(two)
        await world.expectMembers(one, [session], 'groups', 'after the session left another group')
        await world.expectMembers(two, [], 'groups', 'after its only member left')
        await world.expectMembers(three, [session], 'groups', 'after the session left another group')
      },
    },
    {
      title: 'B6: a member disappears when its session expires',
      run: async (world) => {
        const groups = world.names(2)
        const [dead, live] = [await world.openShort(), await world.open()]
        for (const group of groups) {
          await dead.enter(group)
          await live.enter(group)
        }
        await world.expire(dead)
        for (const group of groups)
          await world.expectMembers(group, [live], 'B6', 'after one of two members had expired')
      },
    },
    {
      title: 'B6: a member stays as long as its session is renewed',
      run: async (world) => {
        const [early, late] = world.names(2)
        const session = await world.openShort()
        await session.enter(early)
        for (let i = 1; i <= 4; i++) {
          await world.advance(session.remainingMs / 2)
          if (i === 2) await session.enter(late)
          await session.renew()
          await world.expectMembers(early, [session], 'B6', `after renewal ${i}`)
        }
        await world.advance(session.remainingMs / 2)
        await world.expectMembers(late, [session], 'B6', 'half a lease duration after a renewal')
        await world.expire(session)
        await world.expectMembers(early, [], 'B6', 'after its only member had expired')
        await world.expectMembers(late, [], 'B6', 'after its only member, which joined late, had expired')
      },
    },
    {
      title: 'members come together at once',
      run: async (world) => {
        const group = world.name()
        const sessions = await world.openMany(12)
        await all(sessions.map((session) => session.enter(group)))
        await world.expectMembers(group, sessions, 'groups', 'after twelve joins at once')
        const leaving = sessions.filter((_, i) => i % 3 === 0)
        await all(leaving.map((session) => session.leave(group)))
        const staying = sessions.filter((session) => !leaving.includes(session))
        await world.expectMembers(group, staying, 'groups', 'after four of twelve left at once')
      },
    },
    {
      title: 'a session can join many groups at once, and all end with it',
      run: async (world) => {
        const groups = several(20, () => world.name())
        const [session, other] = [await world.open(), await world.open()]
        await all(groups.map((group) => session.enter(group)))
        for (const group of groups)
          await world.expectMembers(group, [session], 'groups', 'after twenty joins at once')
        await other.enter(groups[0])
        await session.closeSession()
        await world.expectMembers(groups[0], [other], 'close', 'after one of two members was closed')
        for (const group of groups.slice(1))
          await world.expectMembers(group, [], 'close', 'after its only member was closed')
      },
    },
  ],
}
