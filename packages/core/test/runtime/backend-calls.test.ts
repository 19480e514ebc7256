import type { AcquireReply, LeaseBackend, Session } from '@simba/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Request } from '../../src/engine/effect.js'
import type { Reply } from '../../src/engine/event.js'
import { BackendCalls } from '../../src/runtime/backend-calls.js'
import { TimerHeap } from '../../src/runtime/timer-heap.js'
import { HandClock } from './hand-clock.js'
import { oddities } from './oddities.js'

const session: Session = { id: 's1', leaseMs: 10_000 }
const acquire: Request = { op: 'acquire', id: 1, session, name: 'a', slot: 0 }

/** A backend whose every method does the one thing. */
function backendThat(does: (signal: AbortSignal) => unknown): LeaseBackend {
  // What a backend of plain JavaScript may do is more than its type says.
  const method = ((...args: readonly { readonly signal: AbortSignal }[]) =>
    does(args.at(-1)?.signal ?? AbortSignal.abort())) as never
  return {
    name: 'odd',
    openSession: method,
    keepAlive: method,
    closeSession: method,
    acquire: method,
    release: method,
    join: method,
    leave: method,
    members: method,
    close: async () => {},
  }
}

function caller(does: (signal: AbortSignal) => unknown) {
  const clock = new HandClock()
  const timers = new TimerHeap(clock)
  const replies: Reply[] = []
  const asked = { leaseMs: 10_000, metadata: '' }
  const calls = new BackendCalls(backendThat(does), asked, clock, timers, (reply) => replies.push(reply))
  return { clock, timers, replies, calls }
}

/** Everything that promises were going to do has been done. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  await settled()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('an answer in time is one reply, with the time of the sending, and leaves no timer', async () => {
  const { clock, timers, replies, calls } = caller(async () => ({ kind: 'granted', token: 7n }))
  clock.time = 400
  calls.send(acquire, 3_000)
  expect(replies).toEqual([]) // never within the sending itself
  clock.time = 900
  await settled()
  const outcome = { ok: true, value: { kind: 'granted', token: 7n } }
  expect(replies).toEqual([{ type: 'reply', op: 'acquire', request: acquire, sentAt: 400, outcome }])
  expect({ size: timers.size, natives: clock.pending }).toEqual({ size: 0, natives: 0 })
})

test('a call that never settles is given up when its time is over: one reply, and its signal aborts', async () => {
  let signal: AbortSignal | undefined
  const { clock, timers, replies, calls } = caller((given) => {
    signal = given
    return new Promise(() => {})
  })
  calls.send(acquire, 3_000)
  clock.advance(2_999)
  await settled()
  expect({ replies, aborted: signal?.aborted }).toEqual({ replies: [], aborted: false })
  clock.advance(60_000)
  await settled()
  expect(replies).toMatchObject([
    {
      outcome: {
        ok: false,
        timedOut: true,
        error: { message: 'odd: acquire "a" got no answer within 3000 ms.' },
      },
    },
  ])
  expect(signal?.reason).toMatchObject({ code: 'SIMBA_BACKEND' })
  expect(timers.size).toBe(0)
})

test('a success after the timeout is passed on, so that what it won is given back', async () => {
  let answer: (reply: AcquireReply) => void = () => {}
  const { clock, replies, calls } = caller(
    () =>
      new Promise<AcquireReply>((resolve) => {
        answer = resolve
      }),
  )
  calls.send(acquire, 3_000)
  clock.advance(3_000)
  answer({ kind: 'granted', token: 7n })
  await settled()
  expect(replies.map(({ outcome }) => outcome)).toMatchObject([
    { ok: false, timedOut: true },
    { ok: true, value: { token: 7n } },
  ])
})

test('a failure after the timeout says nothing new', async () => {
  const { clock, replies, calls } = caller(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  calls.send(acquire, 3_000)
  clock.advance(3_000)
  await settled()
  expect(replies).toMatchObject([{ outcome: { ok: false, timedOut: true } }])
})

describe('a call fails once, and breaks nothing, when the backend', () => {
  const driver = Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })

  test.each([
    { what: 'rejects', does: () => Promise.reject(driver) },
    {
      what: 'throws',
      does: () => {
        throw driver
      },
    },
  ])('$what', async ({ does }) => {
    const { timers, replies, calls } = caller(does)
    calls.send(acquire, 3_000)
    await settled()
    const error = {
      code: 'SIMBA_BACKEND',
      message: 'odd: acquire "a" failed: connection lost',
      cause: { code: 'ECONNRESET' },
    }
    expect(replies).toMatchObject([{ outcome: { ok: false, timedOut: false, error } }])
    expect(timers.size).toBe(0)
  })

  test.each(oddities)('rejects with $what', async ({ value }) => {
    const { timers, replies, calls } = caller(() => Promise.reject(value))
    calls.send(acquire, 3_000)
    await settled()
    expect(replies).toMatchObject([
      { outcome: { ok: false, timedOut: false, error: { code: 'SIMBA_BACKEND' } } },
    ])
    expect(timers.size).toBe(0)
  })

  test.each(oddities)('answers with $what', async ({ value }) => {
    const { replies, calls } = caller(() => Promise.resolve(value))
    calls.send(acquire, 3_000)
    await settled()
    expect(replies).toMatchObject([
      { outcome: { ok: false, timedOut: false, error: { code: 'SIMBA_BACKEND' } } },
    ])
  })
})

const group = 'g'
const nonsense: { readonly request: Request; readonly values: readonly unknown[] }[] = [
  {
    request: { op: 'openSession', id: 1 },
    values: [
      {},
      { id: '', remainingMs: 1 },
      { id: 's1' },
      { id: 's1', remainingMs: Number.NaN },
      { id: 's1', remainingMs: Infinity },
      { id: 's1', remainingMs: 5n },
    ],
  },
  {
    request: { op: 'keepAlive', id: 1, session },
    values: [
      {},
      { kind: 'renewed', remainingMs: 5 },
      { kind: 'renewed', owned: [] },
      { kind: 'renewed', remainingMs: 5, owned: [{ name: 'a', token: 5 }] },
      { kind: 'renewed', remainingMs: 5, owned: [{ token: 5n }] },
      { kind: 'renewed', remainingMs: 5, owned: [null] },
    ],
  },
  {
    request: acquire,
    values: [
      {},
      { kind: 'granted' },
      { kind: 'granted', token: 7 },
      { kind: 'granted', token: '7' },
      { kind: 'granted', token: 0n },
      { kind: 'granted', token: -1n },
    ],
  },
  { request: { op: 'join', id: 1, session, group }, values: [{}, { kind: 'granted' }, true] },
  { request: { op: 'members', id: 1, session, group }, values: [{}, 's1', [1], [undefined]] },
]

test('an answer that makes no sense is a failure of the call', async () => {
  for (const { request, values } of nonsense) {
    for (const value of [...values, undefined, null]) {
      const { replies, calls } = caller(async () => value)
      calls.send(request, 3_000)
      await settled()
      expect(replies, `${request.op} answered with ${String(value)}`).toMatchObject([
        { outcome: { ok: false, timedOut: false } },
      ])
    }
  }
})

test('a close aborts what is in flight, and no timeout is told any more', async () => {
  const signals: AbortSignal[] = []
  const { clock, replies, calls } = caller((signal) => {
    signals.push(signal)
    return new Promise(() => {})
  })
  for (const id of [1, 2, 3]) calls.send({ ...acquire, id }, 3_000)
  calls.close()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true])
  clock.advance(10_000)
  await settled()
  expect(replies).toEqual([])
})
