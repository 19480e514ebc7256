import type { Inspection, InspectScope, LeaseBackend } from '@simba/core'
import type { SpecTopic } from '../case.js'
import { broken, must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import type { World } from '../world.js'
import { metadataOf } from './sessions.js'

export const inspectTopic: SpecTopic = {
  title: 'inspect',
  cases: [
    {
      title: 'it lists live sessions with their metadata and remaining time',
      needs: 'inspect',
      run: async (world) => {
        const texts = ['{}', '{"service":"billing"}', metadataOf(1024, 'x'), metadataOf(1024, '界é"\\')]
        const opened: [SpecSession, string][] = []
        for (const metadata of texts) opened.push([await world.open({ metadata, on: world.peer }), metadata])
        const { sessions } = await inspect(world)
        for (const [session, metadata] of opened) {
          const listed = sessions.filter(({ id }) => id === session.id)
          const [entry] = listed
          must(
            entry !== undefined && listed.length === 1,
            'inspect',
            `a live session was listed ${listed.length} times`,
            'list each live session once',
          )
          must(
            entry.metadata === metadata,
            'metadata',
            `a session opened with ${show(metadata)} (${metadata.length} characters) was listed with ${show(entry.metadata)}`,
            'keep the text as it was given, also outside ASCII',
          )
          must(
            entry.remainingMs > 0 && entry.remainingMs <= session.session.leaseMs,
            'remaining',
            `inspect listed a session with ${entry.remainingMs} ms remaining of ${session.session.leaseMs} ms`,
            'give the time until the session expires, by the clock of the storage',
          )
        }
      },
    },
    {
      title: 'it does not list sessions that have expired or were closed, nor anything as theirs',
      needs: 'inspect',
      run: async (world) => {
        const [first, second, group] = world.names(3)
        const [expired, closed] = [await world.openShort(), await world.open()]
        const tokens = [await expired.take(first), await closed.take(second)] as const
        for (const session of [expired, closed]) await session.enter(group)
        await closed.closeSession()
        await world.expire(expired)
        const { sessions, leases, groups } = await inspect(world)
        for (const { id } of [expired, closed]) {
          must(
            sessions.every((session) => session.id !== id),
            'inspect',
            'inspect listed a session that had expired or was closed',
            'compare expiry with the clock of the storage, also before any clean-up',
          )
        }
        isFree(leases, first, tokens[0])
        isFree(leases, second, tokens[1])
        must(
          groups.filter((listed) => listed.group === group).every(({ members }) => members.length === 0),
          'inspect',
          'inspect listed members whose sessions were over',
          'list live members only',
        )
      },
    },
    {
      title: 'it lists leases with holder and token, and a free lease without a holder or not at all',
      needs: 'inspect',
      run: async (world) => {
        const [owned, passed, free] = world.names(3)
        const [session, other] = [await world.open(), await world.open()]
        const token = await session.take(owned)
        await session.release(passed, await session.take(passed))
        const passedToken = await other.take(passed)
        const freed = await session.take(free)
        await session.release(free, freed)
        const { leases } = await inspect(world)
        isHeld(leases, owned, session, token)
        isHeld(leases, passed, other, passedToken)
        isFree(leases, free, freed)
      },
    },
    {
      title: 'it lists groups with their live members',
      needs: 'inspect',
      run: async (world) => {
        const [full, left] = world.names(2)
        const members = await world.openMany(3)
        for (const member of members) await member.enter(full)
        await members[0].enter(left)
        await members[0].leave(left)
        const { groups } = await inspect(world)
        const listed = groups.filter(({ group }) => group === full)
        must(
          listed.length === 1 &&
            show([...(listed[0]?.members ?? [])].sort()) === show(members.map(({ id }) => id).sort()),
          'inspect',
          `a group of three members was listed as ${show(listed)}`,
          'list each group once, with each live member once',
        )
        must(
          groups.every(({ group, members }) => group !== left || members.length === 0),
          'inspect',
          'a group whose only member had left was listed with members',
          'list it empty, or not at all',
        )
      },
    },
    {
      title: 'with the scope of one lease it lists that lease only',
      needs: 'inspect',
      run: async (world) => {
        const [name, longer, never] = [world.name(), `${world.name()}.1`, world.name()]
        const [session, other] = [await world.open(), await world.open()]
        const token = await session.take(name)
        await other.take(longer)
        await other.take(name.replace('tck', 'TCK'))
        const { leases } = await inspect(world, { kind: 'lease', name })
        isHeld(leases, name, session, token)
        must(
          leases.length === 1,
          'inspect',
          `with the scope of the lease "${name}", inspect listed ${show(leases)}`,
          'list the lease with exactly this name',
        )
        const unknown = await inspect(world, { kind: 'lease', name: never })
        must(
          unknown.leases.every((lease) => lease.name === never && lease.holder === undefined),
          'inspect',
          `with the scope of a lease that never was, inspect listed ${show(unknown.leases)}`,
          'list nothing',
        )
      },
    },
    {
      title: 'it changes nothing',
      needs: 'inspect',
      run: async (world) => {
        const [name, group] = world.names(2)
        const [session, dying] = [await world.open(), await world.openShort()]
        const token = await session.take(name)
        await session.enter(group)
        await world.advance(dying.remainingMs / 2)
        await inspect(world)
        await inspect(world, { kind: 'lease', name })
        const again = await session.take(name, 'inspect', 'listed by inspect, by its owner')
        must(
          again === token,
          'inspect',
          `inspect changed token ${token} to ${again}`,
          'let inspect only read',
        )
        await world.expectMembers(group, [session], 'inspect', 'after inspect')
        await world.expire(dying)
        await dying.staysExpired('inspect', 'after an inspect during its life', world.name(), group)
      },
    },
  ],
}

async function inspect(
  world: World,
  scope: InspectScope = { kind: 'all' },
  on: LeaseBackend = world.backend,
): Promise<Inspection> {
  if (on.inspect === undefined)
    broken('capabilities', 'the backend has no method inspect', 'write it, or do not declare it')
  const method = on.inspect.bind(on)
  return world.call('inspect', (call) => method(scope, call))
}

function isHeld(leases: Inspection['leases'], name: string, holder: SpecSession, token: bigint): void {
  const listed = leases.filter((lease) => lease.name === name)
  must(
    listed.length === 1 && listed[0]?.holder === holder.id && listed[0].token === token,
    'inspect',
    `the lease "${name}", which ${show(holder.id)} owned with token ${token}, was listed as ${show(listed)}`,
    'list each owned lease once, with the session that owns it and the token of its term',
  )
}

function isFree(leases: Inspection['leases'], name: string, lastToken: bigint): void {
  const listed = leases.filter((lease) => lease.name === name)
  must(
    listed.length <= 1 && listed.every(({ holder, token }) => holder === undefined && token >= lastToken),
    'inspect',
    `the free lease "${name}", whose last token was ${lastToken}, was listed as ${show(listed)}`,
    'list a free lease with its last token and without a holder, or not at all',
  )
}
