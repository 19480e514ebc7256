/** Nothing that was won is kept by nobody, whatever fails on the way. */
import { expect } from 'vitest'
import { LEASE, RENEW, test } from '../api/world.js'
import { Oracle } from './oracle.js'

for (const end of ['stop', 'stepDown', 'close'] as const) {
  test(`a release that throws, at ${end}: onRevoked is called once, the promise settles, the lease is free soon`, async ({
    world,
  }) => {
    const revoked: string[] = []
    const simba = world.client('a')
    const election = simba.election('report')
    election.start({ onRevoked: (_, reason) => void revoked.push(reason) })
    await world.time.settle()
    world.fault({ on: ['release', 'closeSession'], client: 'a', kind: 'fail-before' })
    const ended = end === 'close' ? simba.close() : end === 'stop' ? election.stop() : election.stepDown('1m')
    await world.time.until(ended, { within: RENEW + 1 })
    expect(revoked).toEqual([end === 'stepDown' ? 'STEPPED_DOWN' : 'STOPPED'])
    world.heal()
    await world.time.advance(LEASE)
    expect(world.holderOf('report')).toBeUndefined()
    expect(revoked).toHaveLength(1)
  })
}

test('an acquire that is granted after its caller gave up delays another node by no more than a renewal and an attempt', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  world.fault({ on: 'acquire', client: 'a', times: 1, kind: 'delay-reply', ms: 2 * RENEW })
  const a = world.client('a')
  const election = a.election('report')
  election.start({ onElected: (term) => oracle.watch('a', term) })
  await world.time.advance(1)
  const stopped = election.stop()
  oracle.compete('b', 'report')
  await world.soon(stopped)
  await oracle.pass(2 * RENEW)
  expect(oracle.leader).toBe('b')
})

test('1,000 acquires that fail leave no session, no lease and no wait behind', async ({ world }) => {
  const simba = world.client('a')
  await world.soon(simba.ready())
  world.fault({ on: 'acquire', kind: 'fail-after' })
  let failed = 0
  const all = Array.from({ length: 1_000 }, (_, index) =>
    simba
      .lock(`order.${index}`)
      .acquire({ timeout: '2s' })
      .catch(() => {
        failed += 1
      }),
  )
  await world.time.until(Promise.all(all), { within: 3_000 })
  expect(failed).toBe(1_000)
  world.heal()
  await world.time.advance(2 * RENEW)
  expect(world.backend.contents().leases.filter(({ holder }) => holder !== undefined)).toEqual([])
  expect(simba.snapshot().locks).toEqual([])
  await world.soon(simba.close())
  expect(world.backend.contents().sessions).toEqual([])
})

test('a release that is under way is sent although the signal of the acquire aborts meanwhile', async ({
  world,
}) => {
  const simba = world.client('a')
  const controller = new AbortController()
  const held = await world.soon(simba.lock('order').acquire({ signal: controller.signal }))
  world.fault({ on: 'release', kind: 'delay-request', ms: 500 })
  const released = held.release()
  controller.abort()
  await world.time.until(released, { within: 1_000 })
  expect(world.callsOf('release')).toHaveLength(1)
  expect(world.holderOf('order')).toBeUndefined()
})
