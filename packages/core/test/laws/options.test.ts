/** What users pass in: durations, names and options, accepted or refused with words that help. */
import { ConfigError, LeaseNameError } from '@simba/core'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { checkOptions, type SimbaOptions } from '../../src/config.js'
import { type Duration, toMs } from '../../src/duration.js'
import { checkName, checkPartitions, partitionName } from '../../src/lease-name.js'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const unit = fc.constantFrom('ms' as const, 's' as const, 'm' as const, 'h' as const, 'd' as const)

describe('a duration', () => {
  test('is an amount of a unit', () => {
    fc.assert(
      fc.property(fc.nat(), unit, (amount, unit) => {
        expect(toMs(`${amount}${unit}`, 'it')).toBe(amount * UNITS[unit])
      }),
    )
  })

  test('may have a decimal part, and may be a number of milliseconds', () => {
    expect([toMs('1.5s', 'it'), toMs('0.25ms', 'it'), toMs(7.5, 'it'), toMs(0, 'it')]).toEqual([
      1_500, 0.25, 7.5, 0,
    ])
  })

  test('is nothing else: any other text or value is refused, and named', () => {
    const texts = fc.string().filter((text) => !/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text))
    const values = fc.oneof(
      texts,
      fc.constantFrom(null, undefined, {}, [], true, 5n, Number.NaN, Infinity, -Infinity),
    )
    fc.assert(
      fc.property(values, (value) => {
        // Users without types pass anything.
        expect(() => toMs(value as Duration, 'leaseDuration')).toThrow(ConfigError)
        expect(() => toMs(value as Duration, 'leaseDuration')).toThrow(/^leaseDuration is /)
      }),
    )
  })

  test.each([
    '5',
    '5 s',
    ' 5s',
    '5s ',
    '-5s',
    '+5s',
    '5S',
    '5sec',
    '1e3ms',
    '.5s',
    '5.s',
    '1h30m',
    '0x5s',
    '٥s',
    '5s\n',
  ])('is not %j', (text) => {
    expect(() => toMs(text as Duration, 'it')).toThrow(ConfigError)
  })

  test('of more than can be counted is refused', () => {
    expect(() => toMs(`${'9'.repeat(400)}d` as Duration, 'it')).toThrow(ConfigError)
  })

  test('below the least allowed is refused, with the least', () => {
    expect(() => toMs('0.5ms', 'renewInterval', 1)).toThrow(
      "renewInterval is '0.5ms'; it must be at least 1 ms.",
    )
  })
})

describe('a name', () => {
  const letter = fc.constantFrom(...'ABCXYZabcxyz0189._:-')
  const good = fc
    .string({ unit: letter, minLength: 1, maxLength: 128 })
    .filter((name) => name !== '.' && name !== '..')

  test('of 1 to 128 letters, digits and . _ : - is taken as it is', () => {
    fc.assert(
      fc.property(good, (name) => {
        expect(checkName('lease', name)).toBe(name)
      }),
    )
  })

  test('with any other character is refused, and the character named', () => {
    const bad = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
      .filter((text) => !/^[A-Za-z0-9._:-]*$/.test(text))
    fc.assert(
      fc.property(good, bad, good, (before, bad, after) => {
        const name = `${before.slice(0, 60)}${bad}${after.slice(0, 60)}`
        fc.pre(name.length <= 128)
        expect(() => checkName('group', name)).toThrow(LeaseNameError)
        expect(() => checkName('group', name)).toThrow(/^The group name .* contains "/s)
      }),
    )
  })

  test.each(['', '.', '..', 'a\n', 'a/b', 'a b', 'ä', 'x'.repeat(129)])('is not %j', (name) => {
    expect(() => checkName('lease', name)).toThrow(LeaseNameError)
  })

  test('with its namespace is one name, and must fit as one', () => {
    expect(checkName('lease', 'report', 'billing')).toBe('billing:report')
    expect(checkName('lease', '..', 'billing')).toBe('billing:..')
    expect(() => checkName('lease', 'x'.repeat(121), 'billing')).toThrow(
      /has 129 characters with its namespace/,
    )
    expect(() => checkName('lease', '', 'billing')).toThrow(/is empty/)
  })

  test('of a group fits if the name of its last partition does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 110, max: 128 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (length, partitions) => {
          const group = 'g'.repeat(length)
          const fits = partitionName(group, partitions - 1).length <= 128
          if (fits) expect(() => checkPartitions(group, partitions)).not.toThrow()
          else expect(() => checkPartitions(group, partitions)).toThrow(LeaseNameError)
        },
      ),
    )
  })
})

describe('options', () => {
  const method = async () => {
    throw new Error('not called')
  }
  const backend = {
    name: 'none',
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
  const timingOf = (options: Omit<SimbaOptions, 'backend'>) => checkOptions({ backend, ...options }).timing

  test('have defaults', () => {
    expect(timingOf({})).toEqual({
      leaseMs: 15_000,
      renewMs: 5_000,
      drift: 0.01,
      marginMs: 50,
      retryJitterMs: 2_500,
      minBackoffMs: 100,
    })
  })

  test('are taken only if a term outlives its renewal, and a second try fits in; else the arithmetic is shown', () => {
    const times = fc.record({
      leaseDuration: fc.integer({ min: 1, max: 20_000 }),
      renewInterval: fc.integer({ min: 1, max: 12_000 }),
      margin: fc.nat({ max: 3_000 }),
      drift: fc.double({ min: 0, max: 0.49, noNaN: true }),
    })
    fc.assert(
      fc.property(times, (options) => {
        const { leaseDuration, renewInterval, margin, drift } = options
        const validity = leaseDuration * (1 - drift) - margin
        if (renewInterval * 2 > leaseDuration)
          expect(() => timingOf(options)).toThrow(
            `${renewInterval} × 2 = ${renewInterval * 2} > ${leaseDuration} ms`,
          )
        else if (validity <= renewInterval)
          expect(() => timingOf(options)).toThrow(`= ${validity} ≤ ${renewInterval} ms`)
        else
          expect(timingOf(options)).toMatchObject({
            leaseMs: leaseDuration,
            renewMs: renewInterval,
            marginMs: margin,
            drift,
          })
      }),
      { numRuns: 500 },
    )
  })

  test('refuse a term that ends just as its renewal is due', () => {
    const options = { leaseDuration: 1_000, renewInterval: 500, drift: 0 }
    expect(() => timingOf({ ...options, margin: 500 })).toThrow('1000 × 1 − 500 = 500 ≤ 500 ms')
    expect(timingOf({ ...options, margin: 499 })).toMatchObject({ marginMs: 499 })
  })

  test.each([-0.1, 0.5, 1, Number.NaN, Infinity])('refuse a drift of %d', (drift) => {
    expect(() => timingOf({ drift })).toThrow(`drift is ${drift}; it must be from 0 to below 0.5.`)
  })

  test('refuse metadata that is too long or no JSON', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    expect(checkOptions({ backend, metadata: 'x'.repeat(1_022) }).metadata).toHaveLength(1_024)
    for (const metadata of ['x'.repeat(1_023), circle, 5n, () => {}, Symbol('odd')]) {
      expect(() => checkOptions({ backend, metadata })).toThrow(
        /^metadata (has 1025 characters|must be a JSON value)/,
      )
    }
  })

  test('refuse a misspelt option, and say which there are', () => {
    const misspelt = { backend, leaseDuraton: '5s' }
    expect(() => checkOptions(misspelt)).toThrow(
      /no option "leaseDuraton"; there are: backend, leaseDuration/,
    )
  })

  test('refuse what is no backend, and say what it lacks', () => {
    const { acquire: _, ...lacking } = backend
    expect(() => checkOptions({ backend: lacking as typeof backend })).toThrow(
      /not a LeaseBackend: it has no acquire\./,
    )
    expect(() => checkOptions({ backend: undefined as never })).toThrow(ConfigError)
  })
})
