/** Bad input never passes silently: each message says what was given, what is allowed, and what to do. */
import { ConfigError, LeaseNameError, Schedule, Simba } from '@simba/core'
import { MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { describe, expect, it } from 'vitest'
import { test } from './world.js'

/** As JavaScript would, past the types. */
function call(target: object, method: string, ...given: unknown[]): unknown {
  const own: unknown = Reflect.get(target, method)
  if (typeof own !== 'function') throw new Error(`no method ${method}`)
  return Reflect.apply(own, target, given)
}

function make(options: unknown): unknown {
  return Reflect.construct(Simba, [options])
}

const time = new VirtualTime({ watchdogMs: false })
const backend = new MemoryLeaseBackend({ clock: time })

describe('new Simba', () => {
  it.for<readonly [unknown, RegExp]>([
    [undefined, /needs options: new Simba\(\{ backend \}\)/],
    [null, /needs options/],
    [
      {},
      /no openSession, keepAlive, .*SqlLeaseBackend\.sqlite\(database\), not a database, pool or client itself/,
    ],
    [{ backend: { query() {} } }, /The backend is not a LeaseBackend/],
    [{ backend, leaseduration: '10s' }, /no option "leaseduration"; there are: backend, leaseDuration/],
    [{ backend, leaseDuration: 0 }, /leaseDuration is 0; it must be at least 1 ms/],
    [{ backend, leaseDuration: -5 }, /leaseDuration is -5/],
    [
      { backend, leaseDuration: Number.NaN },
      /leaseDuration is NaN; give a number of milliseconds, or a text such as/,
    ],
    [{ backend, leaseDuration: Infinity }, /leaseDuration is Infinity/],
    [{ backend, leaseDuration: '15' }, /leaseDuration is '15'; give a number of milliseconds, or a text/],
    [{ backend, leaseDuration: '15 s' }, /leaseDuration is '15 s'/],
    [{ backend, leaseDuration: '-1s' }, /leaseDuration is '-1s'/],
    [{ backend, leaseDuration: null }, /leaseDuration is null/],
    [
      { backend, leaseDuration: '10s', renewInterval: '6s' },
      /6000 × 2 = 12000 > 10000 ms\. Shorten renewInterval/,
    ],
    [
      { backend, leaseDuration: 100, renewInterval: 50 },
      /100 × 0\.99 − 50 = 49 ≤ 50 ms\. Lengthen leaseDuration/,
    ],
    [{ backend, drift: 0.5 }, /drift is 0\.5; it must be from 0 to below 0\.5/],
    [{ backend, drift: -0.1 }, /drift is -0\.1/],
    [{ backend, drift: '1%' }, /drift is 1%/],
    [{ backend, drift: null }, /drift is null/],
    [{ backend, clock: null }, /clock\.now must be a function; given was undefined/],
    [{ backend, clock: { now: Date.now } }, /clock\.setTimer must be a function/],
    [{ backend, seed: 0.5 }, /seed is 0\.5; it must be an integer/],
    [{ backend, margin: -1 }, /margin is -1/],
    [{ backend, minBackoff: 0 }, /minBackoff is 0; it must be at least 1 ms/],
    [{ backend, namespace: 'a b' }, /contains " "/],
    [{ backend, namespace: 7 }, /must be a text; given was 7/],
    [{ backend, metadata: 'x'.repeat(1023) }, /metadata has 1025 characters as JSON; at most 1024/],
    [{ backend, metadata: 5n }, /metadata must be a JSON value/],
    [{ backend, metadata: () => {} }, /metadata must be a JSON value; given was a function/],
    [{ backend, logger: {} }, /logger\.warn must be a function/],
    [{ backend, logger: { warn() {} } }, /logger\.error must be a function/],
  ])('is refused: $1', ([options, message]) => {
    expect(() => make(options)).toThrow(/./)
    expect(() => make(options)).toThrow(message)
    try {
      make(options)
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^SIMBA_(CONFIG|LEASE_NAME)$/) })
    }
  })

  it('takes metadata of 1024 characters, and the longest timing there is', () => {
    expect(() => make({ backend, metadata: 'x'.repeat(1022) })).not.toThrow()
    expect(() => make({ backend, leaseDuration: '365d' })).not.toThrow()
  })
})

describe('names', () => {
  const bad: readonly [unknown, RegExp][] = [
    ['', /is empty/],
    ['.', /means a folder/],
    ['..', /means a folder/],
    ['a b', /contains " "/],
    ['a/b', /contains "\/"/],
    ['{a}', /contains "\{"/],
    ['größe', /contains "ö"/],
    ['a\u0000', /contains "\\u0000"/],
    ['\ud83d', /contains "\\ud83d"/],
    ['x'.repeat(129), /has 129 characters/],
    [7, /must be a text; given was 7/],
    [undefined, /must be a text; given was undefined/],
  ]
  test.for(bad)('a bad name is refused: $1', ([name, message], { world }) => {
    const simba = world.client()
    for (const method of ['election', 'lock']) {
      expect(() => call(simba, method, name)).toThrow(LeaseNameError)
      expect(() => call(simba, method, name)).toThrow(message)
    }
    expect(() => call(simba, 'group', name, { partitions: 1 })).toThrow(message)
  })

  test('all allowed characters, and 128 of them, are taken', ({ world }) => {
    const simba = world.client()
    expect(simba.election('AZaz09._:-').name).toBe('AZaz09._:-')
    expect(simba.lock('x'.repeat(128)).name).toHaveLength(128)
    expect(() => simba.group('x'.repeat(126), { partitions: 10 })).not.toThrow()
    expect(() => simba.group('x'.repeat(126), { partitions: 11 })).toThrow(/129 characters .*shorter name/)
  })

  test('a namespace counts as part of the name', ({ world }) => {
    const simba = world.client('a', { namespace: 'billing' })
    expect(simba.election('report').name).toBe('billing:report')
    expect(() => simba.lock('x'.repeat(121))).toThrow(/129 characters with its namespace/)
  })
})

describe('calls', () => {
  const election = (simba: Simba) => simba.election('x')
  const lock = (simba: Simba) => simba.lock('x')
  const group = (simba: Simba) => simba.group('g', { partitions: 1 })
  const itself = (simba: Simba) => simba
  const cases: readonly [string, (simba: Simba) => object, unknown[], RegExp][] = [
    ['start', election, [() => {}], /takes its callbacks as an object: .*Given was a function/],
    ['start', election, [{ onelected() {} }], /no option "onelected"; there are: onElected, onRevoked/],
    ['start', election, [{ onElected: 5 }], /start: onElected must be a function; given was 5/],
    ['start', election, [{}, { sgnal: 1 }], /start has no option "sgnal"; there are: signal/],
    [
      'start',
      election,
      [{}, new AbortController().signal],
      /takes its options as an object: \{ signal \}\. Given was an AbortSignal itself/,
    ],
    [
      'start',
      election,
      [{}, { signal: new AbortController() }],
      /must be an AbortSignal; given was an object of class AbortController\. Of an AbortController, pass its signal/,
    ],
    ['runWhileLeader', election, [], /runWhileLeader: the work must be a function; given was undefined/],
    ['schedule', election, ['1m', () => {}], /needs a Schedule: Schedule\.fixedDelay/],
    ['schedule', election, [Schedule.fixedRate('1s')], /schedule: the work must be a function/],
    ['terms', election, [{ timeout: 5 }], /terms has no option "timeout"/],
    ['acquire', lock, [{ timeout: 'soon' }], /acquire: timeout is 'soon'/],
    ['acquire', lock, [{ timeout: -1 }], /acquire: timeout is -1/],
    [
      'acquire',
      lock,
      [5_000],
      /acquire takes its options as an object: \{ timeout, signal \}\. Given was 5000/,
    ],
    ['tryAcquire', lock, [{ timeout: 5 }], /tryAcquire has no option "timeout"; there are: signal/],
    ['withLock', lock, [{ timeout: 5 }], /withLock: the work must be a function; given was an object/],
    ['withLock', lock, [() => {}, { timeot: 5 }], /withLock has no option "timeot"/],
    ['stepDown', election, ['a while'], /stepDown: cooldown is 'a while'/],
    ['runWhileLeader', group, ['x'], /runWhileLeader: the work must be a function/],
    ['group', itself, ['g'], /needs the number of its partitions: \{ partitions: 16 \}/],
    ['group', itself, ['g', { partition: 4 }], /group has no option "partition"; there are: partitions/],
    ['subscribe', itself, [], /subscribe: the listener must be a function/],
    ['ready', itself, [{ timeout: 5 }], /ready has no option "timeout"/],
    ['close', itself, [{ forced: true }], /close has no option "forced"; there are: force/],
  ]
  test.for(cases)('$0 refuses: $3', async ([method, of, given, message], { world }) => {
    const simba = world.client()
    const error = await world.failure((async () => await call(of(simba), method, ...given))())
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ message: expect.stringMatching(message) })
    expect(simba.snapshot()).toMatchObject({ elections: [], locks: [], groups: [] })
    expect(world.calls).toEqual([])
  })

  it.for<[string, unknown[], RegExp]>([
    ['fixedRate', [0], /Schedule\.fixedRate: the period is 0; it must be at least 1 ms/],
    ['fixedDelay', ['1 minute'], /Schedule\.fixedDelay: the delay is '1 minute'/],
    ['fixedRate', ['1m', { initialDelay: -1 }], /initialDelay is -1/],
    ['fixedRate', ['1m', { delay: 1 }], /Schedule\.fixedRate has no option "delay"; there are: initialDelay/],
  ])('Schedule.$0 refuses: $2', ([method, given, message]) => {
    expect(() => call(Schedule, method, ...given)).toThrow(ConfigError)
    expect(() => call(Schedule, method, ...given)).toThrow(message)
  })
})

test('ensureValid refuses a time that is none', async ({ world }) => {
  const held = await world.soon(world.client().lock('x').acquire())
  expect(() => call(held, 'ensureValid', 'long')).toThrow(ConfigError)
  expect(() => held.ensureValid('14s')).not.toThrow()
  expect(() => held.ensureValid('15s')).toThrow(/./)
})
