import type { Hint, HintSubscription, LeaseBackend } from '@simba/core'
import { expect, test } from 'vitest'
import type { Timing } from '../../src/engine/timing.js'
import { EngineLoop, type Notice } from '../../src/runtime/engine-loop.js'
import { TimerHeap } from '../../src/runtime/timer-heap.js'
import { ValidityTable } from '../../src/runtime/validity.js'
import { HandClock } from './hand-clock.js'

const timing: Timing = {
  leaseMs: 10_000,
  renewMs: 3_000,
  drift: 0.01,
  marginMs: 100,
  retryJitterMs: 0,
  minBackoffMs: 100,
}

/** Grants everything, and writes down what it is asked. */
class Grants implements LeaseBackend {
  readonly name = 'grants'
  readonly asked: string[] = []
  readonly owned: { name: string; token: bigint }[] = []
  closes = 0
  hints?: (listener: (hint: Hint) => void) => HintSubscription

  async openSession() {
    this.asked.push('openSession')
    return { id: 's1', remainingMs: 10_000 }
  }
  async keepAlive() {
    this.asked.push('keepAlive')
    return { kind: 'renewed', remainingMs: 10_000, owned: this.owned } as const
  }
  async closeSession() {
    this.asked.push('closeSession')
  }
  async acquire(_: unknown, name: string) {
    this.asked.push(`acquire ${name}`)
    this.owned.push({ name, token: 7n })
    return { kind: 'granted', token: 7n } as const
  }
  async release(_: unknown, name: string) {
    this.asked.push(`release ${name}`)
  }
  async join() {
    return { kind: 'joined' } as const
  }
  async leave() {}
  async members() {
    return ['s1']
  }
  async close() {
    this.closes += 1
  }
}

function loopOver(backend: LeaseBackend, onNotice: (notice: Notice) => void = () => {}) {
  const clock = new HandClock()
  const timers = new TimerHeap(clock)
  const validity = new ValidityTable()
  const notices: Notice[] = []
  const loop = new EngineLoop({
    backend,
    timing,
    metadata: '',
    clock,
    timers,
    seed: 1,
    validity,
    onNotice(notice) {
      notices.push(notice)
      onNotice(notice)
    },
  })
  return { clock, timers, validity, notices, loop }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const start = (name: string, start: number) => ({ type: 'start', name, start, kind: 'plain' }) as const
const textOf = (notice: Notice) =>
  notice.type === 'publish'
    ? notice.event.type
    : notice.type === 'complete'
      ? `complete ${notice.completion.kind}`
      : notice.type

test('a command that a notice gives rise to waits for the end of the step, and all its effects come first', async () => {
  const backend = new Grants()
  let inside = 0
  let deepest = 0
  const { loop, notices } = loopOver(backend, (notice) => {
    inside += 1
    deepest = Math.max(deepest, inside)
    if (notice.type === 'elected') loop.post({ type: 'stop', name: 'a', start: 1 })
    inside -= 1
  })
  loop.post(start('a', 1))
  await settled()
  // What the election publishes is told before the stop that was asked for within it.
  expect(notices.map(textOf)).toEqual([
    'SessionOpened',
    'elected',
    'Elected',
    'revoked',
    'Revoked',
    'complete term',
    'complete stop',
  ])
  expect(deepest).toBe(1)
  expect(backend.asked).toEqual(['openSession', 'acquire a', 'release a'])
})

test('commands from within are taken in the order in which they were given', async () => {
  const backend = new Grants()
  const { loop } = loopOver(backend, (notice) => {
    if (notice.type !== 'publish' || notice.event.type !== 'SessionOpened') return
    for (const [index, name] of ['a', 'b', 'c'].entries()) loop.post(start(name, index + 1))
    expect(backend.asked).toEqual(['openSession'])
  })
  loop.post({ type: 'boot' })
  await settled()
  expect(backend.asked).toEqual(['openSession', 'acquire a', 'acquire b', 'acquire c'])
})

test('a term can be read as valid when it is told of, and as ended when its end is told of', async () => {
  const read: string[] = []
  let cell: { readonly page: Float64Array; readonly index: number } | undefined
  const { loop, validity } = loopOver(new Grants(), (notice) => {
    if (notice.type === 'elected') cell = notice.cell
    if (notice.type !== 'elected' && notice.type !== 'revoked') return
    read.push(`${notice.type} ${cell?.page[cell.index] === notice.term} ${validity.deadline}`)
  })
  loop.post(start('a', 1))
  await settled()
  loop.post({ type: 'stop', name: 'a', start: 1 })
  expect(read).toEqual(['elected true 9800', 'revoked false 9800'])
})

test('a process that stood still past the deadline ends its terms with the first event, and tells of the block once', async () => {
  const { loop, clock, validity, notices } = loopOver(new Grants())
  loop.post(start('a', 1))
  await settled()
  clock.time = 60_000
  notices.length = 0
  loop.post(start('b', 2))
  loop.post(start('c', 3))
  expect(validity.deadline).toBe(-Infinity)
  expect(notices.map(textOf)).toEqual([
    'EventLoopBlocked',
    'revoked',
    'Revoked',
    'complete term',
    'SessionEnded',
  ])
  expect(notices[1]).toMatchObject({ reason: 'DEADLINE_PASSED' })
})

test('one block of the process is told of once, however many events follow it', async () => {
  const { loop, clock, notices } = loopOver(new Grants())
  loop.post(start('a', 1))
  await settled()
  clock.time = 5_000 // the renewal was due at 3,000
  notices.length = 0
  for (const name of ['b', 'c', 'd']) loop.post({ type: 'stop', name, start: 9 })
  expect(notices).toMatchObject([{ event: { type: 'EventLoopBlocked', blockedMs: 2_000, cost: false } }])
})

test('a backend whose hints come while it is asked to watch is not a step within a step', async () => {
  const backend = new Grants()
  backend.acquire = async (_, name) => {
    backend.asked.push(`acquire ${name}`)
    return { kind: 'held', holder: 's9' } as never
  }
  backend.hints = (listener) => ({
    watch(topic) {
      backend.asked.push('watch')
      if (topic.kind === 'lease') listener({ kind: 'released', name: topic.name })
    },
    unwatch() {},
    async close() {},
  })
  const { loop, notices } = loopOver(backend)
  loop.post(start('a', 1))
  await settled()
  expect(backend.asked).toEqual(['openSession', 'acquire a', 'watch', 'acquire a'])
  expect(notices.map(textOf)).toEqual(['SessionOpened', 'LeaseHeld'])
})

test('a backend whose hints throw is polled, and the failure is told', async () => {
  const backend = new Grants()
  backend.acquire = async (_, name) => {
    backend.asked.push(`acquire ${name}`)
    return { kind: 'held' } as never
  }
  backend.hints = () => {
    throw new Error('no subscription')
  }
  const { loop, clock, notices } = loopOver(backend)
  loop.post(start('a', 1))
  await settled()
  expect(notices.at(-1)).toMatchObject({
    event: { type: 'BackendCallFailed', call: 'hints', error: { message: 'no subscription' } },
  })
  clock.advance(1_500)
  expect(backend.asked).toEqual(['openSession', 'acquire a', 'acquire a'])
})

test('after the shutdown nothing is sent or told any more, and the backend is closed once', async () => {
  const backend = new Grants()
  const { loop, timers, notices } = loopOver(backend)
  loop.post(start('a', 1))
  const closing = loop.shutDown()
  await settled()
  await closing
  loop.post(start('b', 2))
  timers.clear()
  expect(notices).toEqual([])
  expect({ asked: backend.asked, closes: backend.closes }).toEqual({ asked: ['openSession'], closes: 1 })
})

test('a shutdown settles although the backend and its hints fail to close', async () => {
  const backend = new Grants()
  backend.close = () => Promise.reject(new Error('stuck'))
  const { loop } = loopOver(backend)
  loop.post({ type: 'boot' })
  await settled()
  await expect(loop.shutDown()).resolves.toBeUndefined()
})

test('hints that throw as they are closed do not keep the backend from being closed', async () => {
  const backend = new Grants()
  backend.acquire = async () => ({ kind: 'held' }) as never
  const fail = () => {
    throw new Error('stuck')
  }
  backend.hints = () => ({ watch() {}, unwatch() {}, close: fail })
  const { loop } = loopOver(backend)
  loop.post(start('a', 1))
  await settled()
  await expect(loop.shutDown()).resolves.toBeUndefined()
  expect(backend.closes).toBe(1)
})
