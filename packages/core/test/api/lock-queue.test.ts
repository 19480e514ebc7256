/** Several calls for one lock on one client: in their order, each with a term of its own. */
import { AlreadyStartedError, ClosedError, LockTimeoutError } from '@simba/core'
import { expect } from 'vitest'
import { LEASE, test } from './world.js'

test('calls are served in their order, each with a larger token', async ({ world }) => {
  const lock = world.client().lock('x')
  const served: string[] = []
  const all = ['one', 'two', 'three'].map((name) =>
    lock.withLock(async (term) => {
      served.push(`${name} ${term.token}`)
      await world.time.sleep(100)
    }),
  )
  await world.time.until(Promise.all(all), { within: 1_000 })
  expect(served).toEqual(['one 1', 'two 2', 'three 3'])
})

test('who times out leaves the queue and is never served; those behind move up', async ({ world }) => {
  const lock = world.client().lock('x')
  const held = await world.soon(lock.acquire())
  const impatient = world.track(lock.acquire({ timeout: 100 }))
  const patient = world.track(lock.acquire())
  await world.time.advance(200)
  expect(impatient.error).toBeInstanceOf(LockTimeoutError)
  expect(impatient.error).toMatchObject({
    message: expect.stringMatching(/held by this same client for \d+ ms \(token 1\)\. .*not re-entrant/),
  })
  await world.soon(held.release())
  await world.time.settle()
  expect(patient.value).toMatchObject({ token: 2n, isValid: true })
})

test('who aborts leaves the queue and is never served', async ({ world }) => {
  const lock = world.client().lock('x')
  const held = await world.soon(lock.acquire())
  const controller = new AbortController()
  const aborted = world.track(lock.acquire({ signal: controller.signal }))
  const next = world.track(lock.acquire())
  controller.abort(new Error('gone'))
  await world.soon(held.release())
  await world.time.settle()
  expect(aborted.error).toMatchObject({ message: 'gone' })
  expect(next.value).toMatchObject({ token: 2n })
})

test('a queue whose last waiter leaves competes no more', async ({ world }) => {
  await world.soon(world.client('a').lock('x').acquire())
  const b = world.client('b')
  await world.failure(b.lock('x').acquire({ timeout: 100 }), 100)
  expect(b.snapshot().locks).toEqual([])
  const before = world.callsOf('acquire', 'b').length
  await world.time.advance(2 * LEASE)
  expect(world.callsOf('acquire', 'b')).toHaveLength(before)
})

test('two handles of one name are one lock', async ({ world }) => {
  const simba = world.client()
  await world.soon(simba.lock('x').acquire())
  expect(simba.snapshot().locks).toMatchObject([{ name: 'x', token: 1n, waiting: 0 }])
  const waiting = world.track(simba.lock('x').acquire())
  await world.time.advance(1_000)
  expect(simba.snapshot().locks).toMatchObject([{ name: 'x', token: 1n, waiting: 1, heldMs: 1_000 }])
  expect(waiting.status).toBe('pending')
})

test('waiting for itself is told of after a lease, and by the timeout', async ({ world }) => {
  const lock = world.client().lock('x')
  const nested = lock.withLock(() => lock.acquire({ timeout: 2 * LEASE }))
  const error = await world.failure(nested, 2 * LEASE)
  expect(world.published('LockWaitsLong')).toEqual([{ type: 'LockWaitsLong', name: 'x', waitedMs: LEASE }])
  expect(error).toMatchObject({ message: expect.stringContaining('it waits for itself') })
})

test('a name that is an election cannot be locked, and the other way round, until that has ended', async ({
  world,
}) => {
  const simba = world.client()
  simba.election('x').start()
  expect(await world.failure(simba.lock('x').acquire())).toBeInstanceOf(AlreadyStartedError)
  expect(await world.failure(simba.lock('x').tryAcquire())).toMatchObject({
    message: expect.stringContaining('"x" is already started on this client, as an election'),
  })
  await world.soon(simba.election('x').stop())
  const held = await world.soon(simba.lock('x').acquire())
  expect(() => simba.election('x').start()).toThrow(/as a lock/)
  await world.soon(held.release())
  expect(() => simba.election('x').start()).not.toThrow()
})

test('all who wait when the client closes are refused at once, and so are later calls', async ({ world }) => {
  const simba = world.client()
  const lock = simba.lock('x')
  const held = await world.soon(lock.acquire())
  const waiting = [world.track(lock.acquire()), world.track(lock.withLock(() => 1))]
  await world.time.settle()
  const closing = simba.close()
  await world.time.settle()
  for (const { error } of waiting) {
    expect(error).toBeInstanceOf(ClosedError)
    expect(error).toMatchObject({ message: expect.stringContaining('while waiting for the lock "x"') })
  }
  await world.soon(closing)
  expect(held.isValid).toBe(false)
  expect(await world.failure(lock.acquire())).toBeInstanceOf(ClosedError)
})

test('many different names, one after another, leave nothing in the client', { timeout: 60_000 }, async ({
  world,
}) => {
  const simba = world.client()
  for (let index = 0; index < 20_000; index += 1) {
    const held = await world.soon(simba.lock(`order.${index}`).acquire())
    await world.soon(held.release())
  }
  expect(simba.snapshot()).toMatchObject({ locks: [], elections: [] })
  expect(world.timers()).toBe(1)
})
