import { describe, expect, test } from 'vitest'
import { granted, opened, Rig, renewed } from './rig.js'

describe('L1: a deadline counts from the sending of the request', () => {
  test('a slow answer to the opening leaves less', () => {
    const rig = new Rig()
    rig.boot()
    rig.until(1_000)
    expect(rig.answer(rig.pending('openSession'), opened('s1'))).toEqual([
      'deadline 9800',
      'arm deadline 9800',
      'arm renew 3000',
      'publish SessionOpened s1 8800',
    ])
  })

  test('a slow answer to a renewal moves the deadline from the sending, and the next renewal too', () => {
    const rig = Rig.live()
    expect(rig.until(3_000)).toEqual(['call keepAlive s1'])
    rig.until(5_500)
    expect(rig.answer(rig.pending('keepAlive'), renewed())).toEqual([
      'deadline 12800',
      'arm deadline 12800',
      'arm renew 6000',
    ])
  })

  test('drift and margin are taken off what the backend grants, also when it grants less than asked', () => {
    const rig = new Rig()
    rig.boot()
    expect(rig.answer(rig.pending('openSession'), opened('s1', 8_000))[0]).toBe('deadline 7820')
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), renewed({}, 9_000))[0]).toBe('deadline 11810')
  })

  test('a renewal that grants less than before brings the deadline nearer', () => {
    const rig = Rig.live()
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), renewed({}, 6_500))[0]).toBe('deadline 9335')
  })

  test('an answer that comes when the next renewal would be due is followed by it at once', () => {
    const rig = new Rig({ ...Rig.live().timing, renewMs: 4_000 })
    rig.boot()
    rig.answer(rig.pending('openSession'), opened('s1'))
    rig.until(4_000)
    const call = rig.pending('keepAlive')
    rig.until(8_000) // the answer and the timeout race, and the timeout was first
    expect(rig.answer(call, renewed())).toContain('arm renew 8000')
  })
})

describe('L6: a passed deadline is never extended', () => {
  test('the renewal that would have extended it arrives first after the deadline', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    const renewal = rig.pending('keepAlive')
    rig.freezeUntil(9_800)
    expect(rig.answer(renewal, renewed({ report: 7n }))).toEqual([
      'no deadline',
      'disarm deadline',
      'disarm renew',
      'revoked report DEADLINE_PASSED',
      'publish Revoked report 7 DEADLINE_PASSED',
      'complete term report DEADLINE_PASSED',
      'publish SessionEnded s1 DEADLINE_PASSED',
      'call closeSession s1',
      'call openSession',
    ])
    expect(rig.answer(rig.pending('openSession'), opened('s2'))).toEqual([
      'deadline 19600',
      'arm deadline 19600',
      'arm renew 12800',
      'publish SessionOpened s2 9800',
      'call acquire report',
    ])
  })

  test('one millisecond before the deadline a renewal still extends it', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    const renewal = rig.pending('keepAlive')
    rig.freezeUntil(9_799)
    expect(rig.answer(renewal, renewed({ report: 7n }))).toEqual([
      'deadline 12800',
      'arm deadline 12800',
      'arm renew 9799',
    ])
  })

  test('the deadline timer ends the session when no renewal was answered', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(9_799)
    expect(rig.until(9_800)).toContain('revoked report DEADLINE_PASSED')
  })

  test.each([
    ['a timer', (rig: Rig) => rig.fire('renew')],
    ['a hint', (rig: Rig) => rig.released('other')],
    ['a command', (rig: Rig) => rig.start('other')],
    ['a report of lateness', (rig: Rig) => rig.send({ type: 'late', lateMs: 6_800 })],
    [
      'an answer to something else',
      (rig: Rig) => rig.answer(rig.pending('acquire', 'wanted'), { kind: 'held' }),
    ],
  ])('whatever comes first after the deadline ends the session before it is looked at: %s', (_, send) => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.start('wanted')
    rig.freezeUntil(9_800)
    const effects = send(rig)
    expect(effects).toContain('no deadline')
    expect(effects).toContain('revoked report DEADLINE_PASSED')
  })

  test('the end is told to readers of terms before anything else', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.lead('audit', 3n)
    rig.freezeUntil(9_800)
    const effects = rig.fire('deadline')
    expect(effects.filter((text) => !text.startsWith('publish') && !text.startsWith('disarm'))).toEqual([
      'no deadline',
      'revoked report DEADLINE_PASSED',
      'complete term report DEADLINE_PASSED',
      'revoked audit DEADLINE_PASSED',
      'complete term audit DEADLINE_PASSED',
      'call closeSession s1',
      'call openSession',
    ])
  })

  test('L4: a grant that arrives at the deadline makes no term, and is given back', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.freezeUntil(9_800)
    const effects = rig.answer(attempt, granted(7n))
    expect(effects).toContain('call release report 7')
    expect(effects.filter((text) => text.startsWith('elected'))).toEqual([])
  })

  test('a renewal whose grant is already over ends the session', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    const renewal = rig.pending('keepAlive')
    rig.until(5_000)
    expect(rig.answer(renewal, renewed({ report: 7n }, 2_000))).toContain('revoked report DEADLINE_PASSED')
  })

  test('an opening whose grant is already over is not used: it is closed, and another follows', () => {
    const rig = new Rig()
    rig.boot()
    const opening = rig.pending('openSession')
    rig.freezeUntil(2_900)
    expect(rig.answer(opening, opened('s1', 2_000))).toEqual(['call closeSession s1', 'arm renew 3000'])
    expect(rig.until(3_000)).toEqual(['call openSession'])
  })
})

describe('a renewal that is answered after its timeout', () => {
  test('still extends the deadline, counted from its own sending', () => {
    const rig = Rig.live()
    rig.until(3_000)
    const first = rig.pending('keepAlive')
    expect(rig.until(6_000)).toContain('publish SessionSuspended s1 3800 no answer')
    expect(rig.answer(first, renewed())).toEqual([
      'deadline 12800',
      'arm deadline 12800',
      'arm renew 6000',
      'publish SessionResumed s1 6800',
    ])
  })

  test('leaves the deadline alone when a later one has been answered before', () => {
    const rig = Rig.live()
    rig.until(3_000)
    const first = rig.pending('keepAlive')
    rig.until(8_000)
    expect(rig.answer(rig.pending('keepAlive'), renewed())).toContain('deadline 17700')
    expect(rig.answer(first, renewed())).toEqual([])
  })

  test('does not answer for the renewal that is in flight since', () => {
    const rig = Rig.live()
    rig.until(3_000)
    const first = rig.pending('keepAlive')
    rig.until(8_000)
    const second = rig.pending('keepAlive')
    expect(rig.answer(first, renewed())).toEqual([
      'deadline 12800',
      'arm deadline 12800',
      'publish SessionResumed s1 4800',
    ])
    expect(rig.answer(second, renewed())).toContain('deadline 17700')
  })
})
