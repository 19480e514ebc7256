/** What happens around the moment at which a session expires or is closed. */
import type { AcquireReply, KeepAliveReply } from '@simba/core'
import type { SpecTopic } from '../case.js'
import { broken, must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import { all, inParallel } from '../several.js'
import type { World } from '../world.js'
import { expectOwned } from './owned.js'

const pairs = 16

/** A session about to expire, another that wants its lease, and which of them calls first. */
interface Contest {
  readonly holder: SpecSession
  readonly rival: SpecSession
  /** Wants it too, in some races. */
  readonly second: SpecSession
  readonly name: string
  readonly token: bigint
  readonly holderFirst: boolean
}

export const racesTopic: SpecTopic = {
  title: 'races around the end of a session',
  cases: [
    {
      title: 'a takeover and a renewal at the moment of expiry do not both succeed',
      run: (world) =>
        contests(world, async ({ holder, rival, name, token, holderFirst }) => {
          const [renewal, acquire] = await both(
            holderFirst,
            () => holder.keepAlive(),
            () => rival.acquire(name),
          )
          await oneOwns(world, { holder, rival, name, token, renewal, acquire })
        }),
    },
    {
      title: 'of two sessions that take over at the moment of expiry, at most one gets the lease',
      run: (world) =>
        contests(world, async ({ rival, second, name, token }) => {
          const replies = await all([rival.acquire(name), second.acquire(name)])
          const granted = replies.filter(({ kind }) => kind === 'granted')
          must(
            granted.length <= 1,
            'one owner',
            `two acquires at once, around the expiry of the owner of "${name}", were answered ${show(replies)}`,
            'lock the lease, or compare and set it, when it is taken over',
          )
          for (const reply of replies) {
            must(
              reply.kind !== 'granted' || reply.token > token,
              'B4',
              `a takeover of token ${token} gave ${show(reply)}`,
              'count on from the greatest token that the name ever had',
            )
          }
        }),
    },
    {
      title: 'B5: a release at the moment of expiry does not free the lease for two',
      run: (world) =>
        contests(world, async ({ holder, rival, name, token, holderFirst }) => {
          const [, reply] = await both(
            holderFirst,
            () => holder.release(name, token),
            () => rival.acquire(name),
          )
          const won = reply.kind === 'granted' ? reply.token : await rival.take(name, 'release', 'released')
          const owned = await rival.renew()
          must(
            owned.some((lease) => lease.name === name && lease.token === won),
            'B5',
            `a release of token ${token}, around the expiry of its session, took token ${won} away from the session that had just got it`,
            'compare session and token in the same step that frees the lease',
          )
        }),
    },
    {
      title: 'an acquire of one session and the closing of the owner at once leave one owner',
      run: async (world) => {
        for (let round = 0; round < world.settings.raceRounds * 4; round++) {
          const name = world.name()
          const [owner, other] = await world.openMany(2)
          const token = await owner.take(name)
          const [, reply] = await both(
            round % 2 === 0,
            () => owner.closeSession(),
            () => other.acquire(name),
          )
          const won =
            reply.kind === 'granted' ? reply.token : await other.take(name, 'close', 'of a closed session')
          must(
            won > token,
            'B4',
            `after token ${token} and closeSession, the next term got ${won}`,
            'count on from the greatest token that the name ever had',
          )
          await expectOwned(
            other,
            [[name, won]],
            'after an acquire that raced with closeSession of the owner',
            'close',
          )
          await owner.closeSession()
          await expectOwned(
            other,
            [[name, won]],
            'after closeSession of the former owner was repeated',
            'close',
          )
        }
      },
    },
    {
      title: 'a session that is closed during its own acquire, join and keepAlive is over, with all it had',
      run: async (world) => {
        const ended = await inParallel(8, async (i) => {
          const [name, group] = world.names(2)
          const session = await world.openShort({ on: i % 2 === 0 ? world.backend : world.peer })
          await both(
            i % 2 === 0,
            () => session.closeSession(),
            () => all([session.acquire(name), session.join(group), session.keepAlive()]),
          )
          return { session, name, group }
        })
        const other = await world.open()
        for (const { session, name, group } of ended) {
          await session.staysExpired('B2', 'after a closeSession that raced with other calls', name, group)
          await session.closeSession()
        }
        // A lease that slipped through is of no session, and may stand until the session's own time is over.
        await world.advanceTo(Math.max(...ended.map(({ session }) => session.deadBy)) + 1)
        for (const { name, group } of ended) {
          await other.take(
            name,
            'close',
            'of a session that was closed during its acquire, a lease duration later',
          )
          await world.expectMembers(
            group,
            [],
            'close',
            'a lease duration after a closeSession that raced with join',
          )
        }
      },
    },
  ],
}

function both<A, B>(firstFirst: boolean, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  if (firstFirst) return all([first(), second()])
  const begun = second()
  return all([first(), begun])
}

/** Lets many sessions expire, and runs the contest for the lease of each shortly before, at, or after its end. */
async function contests(world: World, run: (contest: Contest) => Promise<void>): Promise<void> {
  for (let round = 0; round < world.settings.raceRounds; round++) {
    const rivals = await world.openMany(2)
    const waiting = await inParallel(pairs, async (i): Promise<Contest> => {
      const [name, holder] = [world.name(), await world.openShort()]
      const [rival, second] = i % 2 === 0 ? rivals : [rivals[1], rivals[0]]
      const token = await holder.take(name)
      return { holder, rival, second, name, token, holderFirst: i % 4 < 2 }
    })
    // At instants from 8 ms before the end to 7 ms after it.
    const starts = waiting.map((contest, i) => ({ contest, at: contest.holder.endsAt + i - pairs / 2 }))
    starts.sort((a, b) => a.at - b.at)
    const running: Promise<{ error?: unknown }>[] = []
    for (const { contest, at } of starts) {
      await world.advanceTo(at)
      running.push(
        run(contest).then(
          () => ({}),
          (error: unknown) => ({ error }),
        ),
      )
    }
    for (const outcome of await all(running)) if ('error' in outcome) throw outcome.error
    for (const rival of rivals) await rival.closeSession()
  }
}

interface Outcome extends Omit<Contest, 'second' | 'holderFirst'> {
  readonly renewal: KeepAliveReply
  readonly acquire: AcquireReply
}

/** Fails unless the two answers, and what both sessions own afterwards, agree on one owner at most. */
async function oneOwns(
  world: World,
  { holder, rival, name, token, renewal, acquire }: Outcome,
): Promise<void> {
  // If even the renewed time is over, both answers may be right.
  if (renewal.kind === 'renewed' && world.now() > holder.livesUntil) return
  const listed =
    renewal.kind === 'renewed' && renewal.owned.some((lease) => lease.name === name && lease.token === token)
  const seen = `at the end of the owner's session, its keepAlive answered ${show(renewal)} and an acquire of "${name}" by another session ${show(acquire)}`
  must(
    !(listed && acquire.kind === 'granted'),
    'one owner',
    `${seen}: both think that they own it`,
    "serialize a takeover with the renewal of the owner's session (lock its record), and decide after the last wait",
  )
  must(
    !(renewal.kind === 'renewed' && !listed && acquire.kind !== 'granted'),
    'owned',
    `${seen}: the session was renewed and nobody took its lease, but it is not listed`,
    'list every lease that the session owns',
  )
  const { livesUntil } = holder
  const after = await holder.keepAlive()
  const keeps = after.kind === 'renewed' && after.owned.some((lease) => lease.name === name)
  const rivalOwns = (await rival.renew()).some((lease) => lease.name === name)
  must(
    rivalOwns === (acquire.kind === 'granted'),
    'owned',
    `${seen}; afterwards keepAlive of the other session ${rivalOwns ? 'listed the lease' : 'did not list the lease'}`,
    'a granted lease is listed, and no other',
  )
  if (acquire.kind === 'granted') {
    if (keeps)
      broken('one owner', `${seen}; afterwards both sessions list the lease`, 'let a lease have one owner')
    must(
      acquire.token > token,
      'B4',
      `${seen}; the former token was ${token}`,
      'give a larger token at a takeover',
    )
    return
  }
  const tooSlow = world.now() > livesUntil
  if (renewal.kind === 'renewed')
    must(
      keeps || tooSlow,
      'renewal',
      `${seen}; the next keepAlive answered ${show(after)}`,
      'let a renewed session live on',
    )
  else await rival.take(name, 'B3', 'after keepAlive of its owner had answered "expired"')
}
