import type { CallOptions, LeaseBackend } from '@simba/core'
import { settles } from '../call.js'
import type { SpecTopic } from '../case.js'
import { must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import { all } from '../several.js'
import type { World } from '../world.js'
import { expectOwned } from './owned.js'

export const callsTopic: SpecTopic = {
  title: 'calls',
  cases: [
    {
      title: 'the backend has a name for messages',
      run: async ({ backend }) =>
        must(
          typeof backend.name === 'string' && backend.name !== '',
          'calls',
          `name is ${show(backend.name)}`,
          'give a short text, such as "sqlite"',
        ),
    },
    {
      title: 'a call whose signal has aborted before it rejects or answers, and never hangs',
      run: async (world) => {
        const [lease, group] = world.names(2)
        const session = await world.open()
        for (const [what, run] of calls(world, session, lease, group))
          await settlesSomehow(
            world,
            what,
            run({ signal: AbortSignal.abort(), timeoutMs: world.settings.callTimeoutMs }),
          )
        // The session may have been closed or not: the backend has to work on in either case.
        await worksOn(world, 'after calls with an aborted signal')
      },
    },
    {
      title: 'a call that is aborted on its way rejects or answers, and never hangs',
      run: async (world) => {
        const [lease, group] = world.names(2)
        const session = await world.open()
        for (const [what, run] of calls(world, session, lease, group)) {
          const controller = new AbortController()
          const call = run({ signal: controller.signal, timeoutMs: world.settings.callTimeoutMs })
          controller.abort(new Error('the caller no longer waits'))
          await settlesSomehow(world, what, call)
        }
        await worksOn(world, 'after calls that were aborted on their way')
      },
    },
    {
      title: 'B7: an acquire that was aborted can be repeated, whether it took effect or not',
      run: async (world) => {
        const session = await world.open()
        for (let i = 0; i < 10; i++) {
          const name = world.name()
          const controller = new AbortController()
          const call = { signal: controller.signal, timeoutMs: world.settings.callTimeoutMs }
          const aborted = session.backend.acquire(session.session, name, call)
          controller.abort(new Error('the caller no longer waits'))
          const first = await aborted.catch(() => undefined)
          const token = await session.take(name, 'B7', 'after an acquire that was aborted')
          must(
            first?.kind !== 'granted' || first.token === token,
            'B7',
            `an aborted acquire answered ${show(first)}, and the next one gave token ${token}`,
            'give the token of the term in force to the session that owns it',
          )
          await expectOwned(session, [[name, token]], 'after an aborted acquire and another', 'B7')
          await session.release(name, token)
        }
      },
    },
    {
      title: 'close of the backend is idempotent',
      run: async (world) => {
        const closing = () => settles(world.settings.callTimeoutMs, 'close', world.backend.close())
        await worksOn(world, 'before close')
        await all([closing(), closing()])
        await closing()
      },
    },
    {
      title: 'close of one backend object leaves another on the same storage alone',
      needs: 'connect',
      run: async (world) => {
        const [lease, group] = world.names(2)
        const session = await world.open({ on: world.backend })
        const token = await session.take(lease)
        await session.enter(group)
        await settles(world.settings.callTimeoutMs, 'close', world.peer.close())
        await settles(world.settings.callTimeoutMs, 'close', world.peer.close())
        await session.renew('backend close', 'after another backend object was closed')
        await expectOwned(
          session,
          [[lease, token]],
          'after another backend object was closed',
          'backend close',
        )
        const members = await world.members(group)
        must(
          members.includes(session.id),
          'backend close',
          `after another backend object was closed, members gave ${show(members)}`,
          'let close free only what this object made for itself',
        )
        await worksOn(world, 'after another backend object was closed')
      },
    },
  ],
}

type RawCall = readonly [what: string, run: (call: CallOptions) => Promise<unknown>]

/** Each method of the SPI once, in an order in which each could take effect. */
function calls(world: World, { session, backend }: SpecSession, lease: string, group: string): RawCall[] {
  const { longLeaseMs: leaseMs } = world.settings
  const optional: RawCall[] =
    backend.inspect === undefined ? [] : [['inspect', inspecting(backend, { kind: 'lease', name: lease })]]
  return [
    ['openSession', (call) => backend.openSession({ leaseMs, metadata: '{}' }, call)],
    ['keepAlive', (call) => backend.keepAlive(session, call)],
    ['acquire', (call) => backend.acquire(session, lease, call)],
    ['join', (call) => backend.join(session, group, call)],
    ['members', (call) => backend.members(group, call)],
    ...optional,
    ['leave', (call) => backend.leave(session, group, call)],
    ['release', (call) => backend.release(session, lease, 1n, call)],
    ['closeSession', (call) => backend.closeSession(session, call)],
  ]
}

function inspecting(
  backend: LeaseBackend,
  scope: { readonly kind: 'lease'; readonly name: string },
): RawCall[1] {
  return async (call) => backend.inspect?.(scope, call)
}

async function settlesSomehow(world: World, what: string, call: Promise<unknown>): Promise<void> {
  // An answer and a rejection are both fine.
  const settled = call.then(
    () => {},
    () => {},
  )
  await settles(world.settings.callTimeoutMs, `${what} with an aborted signal`, settled)
}

/** Fails unless a new session can do everything. */
async function worksOn(world: World, when: string): Promise<void> {
  const [lease, group] = world.names(2)
  const session = await world.open()
  const token = await session.take(lease, 'calls', `free, ${when}`)
  await session.enter(group, when)
  await expectOwned(session, [[lease, token]], when, 'calls')
  const members = await world.members(group)
  must(members.includes(session.id), 'calls', `${when}, members gave ${show(members)}`, 'work on')
  await session.release(lease, token)
  await session.leave(group)
}
