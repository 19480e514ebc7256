import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BackendError } from '../../src/errors.js'
import { flattenError, inflateBackendError } from '../../src/runtime/flat-error.js'
import { oddities } from './oddities.js'

describe('whatever was thrown', () => {
  test('becomes plain data that can cross to another thread', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (thrown) => {
          const flat = flattenError(thrown)
          expect(structuredClone(flat)).toEqual(flat)
          expect(typeof flat.message).toBe('string')
        },
      ),
    )
  })

  test.each(oddities)('$what too', ({ value }) => {
    const flat = flattenError(value)
    expect(structuredClone(flat)).toEqual(flat)
    expect(typeof flat.name).toBe('string')
    expect(typeof flat.message).toBe('string')
    expect(inflateBackendError(flat)).toBeInstanceOf(BackendError)
  })
})

test('an error comes back with its message, code, stack and causes', () => {
  const refused = Object.assign(new TypeError('connection refused'), { code: 'ECONNREFUSED' })
  const error = new BackendError('sqlite: acquire "a" failed', { cause: refused })
  const back = inflateBackendError(structuredClone(flattenError(error)))
  expect(back).toBeInstanceOf(BackendError)
  expect(back.message).toBe(error.message)
  expect(back.cause).toMatchObject({
    name: 'TypeError',
    message: 'connection refused',
    code: 'ECONNREFUSED',
    stack: refused.stack,
  })
})

test('an error of a driver comes back as the cause of a BackendError', () => {
  const back = inflateBackendError(flattenError(new RangeError('too long')))
  expect(back).toMatchObject({
    code: 'SIMBA_BACKEND',
    message: 'too long',
    cause: { name: 'RangeError', message: 'too long' },
  })
})

test('a code that is a number is a text afterwards', () => {
  expect(flattenError(Object.assign(new Error('deadlock'), { code: 1213 })).code).toBe('1213')
})

test('a chain of causes is cut where it is too long, or goes in a circle', () => {
  const circle = new Error('round')
  circle.cause = circle
  let depth = 0
  for (let flat = flattenError(circle).cause; flat !== undefined; flat = flat.cause) depth += 1
  expect(depth).toBe(8)
})

test('a failure of several attempts, such as to connect to each address of a host, says what they were', () => {
  const error = new AggregateError([
    new Error('connect ECONNREFUSED ::1'),
    new Error('connect ECONNREFUSED 127.0.0.1'),
  ])
  expect(flattenError(error).message).toBe('connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1')
})
