import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import type { World } from '../world.js'
import { expectOwned } from './owned.js'

const allowed = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-'
const longest = 128

export const namesTopic: SpecTopic = {
  title: 'names',
  cases: [
    {
      title: 'names are case-sensitive',
      run: (world) => {
        const stem = world.name()
        return areDistinct(world, [`${stem}.report`, `${stem}.Report`, `${stem}.REPORT`, `${stem}.reporT`])
      },
    },
    {
      title: 'every allowed character can stand in a name, and tells it from all others',
      run: (world) => {
        const stem = world.name()
        return areDistinct(
          world,
          [...allowed].map((character) => `${stem}${character}x`),
        )
      },
    },
    {
      title: 'names of 128 characters are told apart by their first, middle and last character',
      run: (world) => {
        const full = world.name().padEnd(longest, '-')
        const changed = (at: number) => `${full.slice(0, at)}Z${full.slice(at + 1)}`
        const middle = longest / 2
        return areDistinct(world, [
          full,
          changed(0),
          changed(middle - 1),
          changed(middle),
          changed(longest - 1),
          full.slice(0, -1),
        ])
      },
    },
    {
      title: 'a name is told from its prefixes and from longer names',
      run: (world) => {
        const name = world.name()
        return areDistinct(world, [
          name,
          `${name}.1`,
          `${name}.10`,
          `${name}.01`,
          `${name}:1`,
          `${name}1`,
          `${name}.1.1`,
        ])
      },
    },
    {
      title: 'dots, colons, dashes and underscores count at the beginning and the end',
      run: (world) => {
        const name = world.name()
        const marks = ['.', '..', ':', '::', '-', '_', '.:']
        return areDistinct(world, [
          name,
          ...marks.map((mark) => `${name}${mark}`),
          ...marks.map((mark) => `${mark}${name}`),
        ])
      },
    },
    {
      title: 'no character of a name stands for others',
      // `_` and `.` are wild cards of LIKE and of regular expressions.
      run: (world) => {
        const stem = world.name().replaceAll('.', '-')
        return areDistinct(world, [`${stem}_a`, `${stem}.a`, `${stem}xa`, `${stem}-a`, `${stem}:a`])
      },
    },
    {
      title: 'names that mean something to a language, a shell or a storage are ordinary names',
      run: async (world) => {
        const session = await world.open()
        const special = [
          '__proto__',
          'constructor',
          'toString',
          'null',
          'undefined',
          'NaN',
          '0',
          '-1',
          '...',
          '-',
        ]
        for (const name of special) {
          const reply = await session.acquire(name)
          // Another user of the storage may have it at this very time.
          if (reply.kind === 'held') continue
          must(
            reply.kind === 'granted',
            'names',
            `acquire of "${name}" answered ${show(reply)}`,
            'take every name of A-Z a-z 0-9 . _ : - but "." and ".."',
          )
          const owned = await session.renew()
          must(
            owned.length === 1 && owned[0]?.name === name && owned[0].token === reply.token,
            'names',
            `with the lease "${name}", keepAlive listed ${show(owned)}`,
            'escape names where the storage needs it; keep them in a Map rather than an object',
          )
          await session.release(name, reply.token)
          await session.enter(name)
          must(
            (await world.members(name)).includes(session.id),
            'names',
            `after join of "${name}", members did not list the session`,
            'escape names where the storage needs it; keep them in a Map rather than an object',
          )
          await session.leave(name)
        }
      },
    },
    {
      title: 'a name of one character is as good as any',
      run: async (world) => {
        const session = await world.open()
        for (const name of allowed.slice(0, 62)) {
          const reply = await session.acquire(name)
          if (reply.kind === 'held') continue
          must(
            reply.kind === 'granted',
            'names',
            `acquire of "${name}" answered ${show(reply)}`,
            'take names from 1 to 128 characters',
          )
          await expectOwned(session, [[name, reply.token]], `with the lease "${name}"`, 'names')
          await session.release(name, reply.token)
          return
        }
      },
    },
    {
      title: 'a group and a lease of the same name do not disturb each other',
      run: async (world) => {
        const name = world.name()
        const [owner, member] = [await world.open(), await world.open()]
        const token = await owner.take(name)
        await world.expectMembers(name, [], 'names', 'while only a lease had this name')
        await member.enter(name)
        await expectOwned(member, [], 'for a member of a group with the name of a lease', 'names')
        await member.leave(name)
        await member.refused(name, owner, 'names', 'after a leave of the group with its name')
        await member.enter(name)
        await owner.release(name, token)
        await world.expectMembers(name, [member], 'names', 'after a release of the lease with its name')
        await owner.take(name, 'names', 'free, while a group with its name had a member')
        await owner.closeSession()
        await world.expectMembers(
          name,
          [member],
          'names',
          'after the owner of the lease with its name was closed',
        )
      },
    },
    {
      title: 'groups are told apart as leases are',
      run: async (world) => {
        const name = world.name()
        const full = world.name().padEnd(longest, 'g')
        const groups = [
          name,
          `${name}.1`,
          `${name}.`,
          `${name}:`,
          `${name}_`,
          `${name}A`,
          `${name}a`,
          full,
          full.slice(0, -1),
          `${full.slice(0, -1)}G`,
        ]
        const sessions: [string, SpecSession][] = []
        for (const group of groups) {
          const session = await world.open()
          await session.enter(group)
          sessions.push([group, session])
        }
        for (const [group, session] of sessions)
          await world.expectMembers(group, [session], 'names', 'while other groups had similar names')
      },
    },
  ],
}

/** Fails unless these are so many leases: each can be had, and released, without a change to the others. */
async function areDistinct(world: World, names: readonly string[]): Promise<void> {
  const [one, other] = [await world.open(), await world.open()]
  const owned: [string, bigint][] = []
  for (const name of names) {
    const similar =
      owned.length === 0 ? 'free' : `free, while similar names such as "${owned[0]?.[0]}" were owned`
    owned.push([name, await other.take(name, 'names', similar)])
  }
  await expectOwned(other, owned, 'with leases of similar names', 'names')
  for (const [i, [name, token]] of owned.entries()) {
    await other.release(name, token)
    await one.take(name, 'names', 'released by its owner')
    const next = owned[i + 1]
    if (next !== undefined) await one.refused(next[0], other, 'names', `after a release of "${name}"`)
  }
}
