import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'

export const sessionsTopic: SpecTopic = {
  title: 'sessions',
  cases: [
    {
      title: 'a session opens with a remaining time above 0 and at most its lease duration',
      // `open` and `renew` check the remaining time of each answer.
      run: async (world) => {
        const { leaseMs, longLeaseMs } = world.settings
        for (const duration of [leaseMs, leaseMs + 1, longLeaseMs]) {
          const session = await world.open({ leaseMs: duration })
          await session.renew()
          await session.renew()
        }
      },
    },
    {
      title: 'each session has an id of its own, also when many open at once',
      run: async (world) => {
        const ids = (await world.openMany(20)).map(({ id }) => id)
        const again = await world.open()
        must(
          new Set([...ids, again.id]).size === 21,
          'session id',
          `21 calls of openSession gave the ids ${show([...ids, again.id])}`,
          'make ids of 128 random bits, or let the storage count them',
        )
      },
    },
    {
      title: 'an id is not used again after its session was closed',
      run: async (world) => {
        const ids = new Set<string>()
        for (let i = 1; i <= 10; i++) {
          const session = await world.open()
          ids.add(session.id)
          await session.closeSession()
          must(
            ids.size === i,
            'session id',
            `openSession gave ${show(session.id)} again after that session was closed`,
            'never use an id twice',
          )
        }
      },
    },
    {
      title: 'a session opens with metadata of 1024 characters, also outside ASCII, and works',
      run: async (world) => {
        const texts = ['{}', metadataOf(1024, 'x'), metadataOf(1024, '界'), metadataOf(1024, 'é"\\')]
        for (const metadata of texts) {
          const session = await world.open({ metadata })
          await session.renew('metadata', `after openSession with ${metadata.length} characters of metadata`)
          await session.take(world.name())
        }
      },
    },
    {
      title: 'a session opened with one backend object lives for the other',
      needs: 'connect',
      run: async (world) => {
        const name = world.name()
        const session = await world.open({ on: world.backend })
        const other = await world.open({ on: world.peer })
        await session.take(name)
        await other.refused(name, session, 'one owner', 'through another backend object on the same storage')
      },
    },
    {
      title: 'sessions with different lease durations live side by side',
      run: async (world) => {
        const short = await world.openShort()
        const long = await world.open()
        await world.expire(short)
        await short.staysExpired(
          'B1',
          'after its lease duration without a renewal',
          world.name(),
          world.name(),
        )
        await long.renew('B1', 'after a session with a shorter lease duration had expired')
      },
    },
  ],
}

/** A JSON text of exactly so many characters (UTF-16 units, as `String.length` counts). */
export function metadataOf(length: number, fill: string): string {
  let text = '{"service":"'
  const end = '"}'
  const escaped = JSON.stringify(fill).slice(1, -1)
  while (text.length + escaped.length + end.length <= length) text += escaped
  return text.padEnd(length - end.length, '.') + end
}
