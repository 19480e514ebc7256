import { describe, expect, test } from 'vitest'
import { expired, granted, held, opened, Rig, renewed } from './rig.js'

describe('L7: a session that has expired is over, whichever call it is that hears of it', () => {
  const ended = [
    'no deadline',
    'disarm deadline',
    'disarm renew',
    'revoked report SESSION_EXPIRED',
    'publish Revoked report 7 SESSION_EXPIRED',
    'complete term report SESSION_EXPIRED',
    'publish SessionEnded s1 SESSION_EXPIRED',
    'call openSession',
  ]

  test('a keep-alive', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), expired)).toEqual(ended)
  })

  test('a keep-alive that had timed out', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    const first = rig.pending('keepAlive')
    rig.until(6_000)
    expect(rig.answer(first, expired)).toEqual(ended)
  })

  test('an acquire', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.start('audit')
    expect(rig.answer(rig.pending('acquire', 'audit'), expired)).toEqual(ended)
    expect(rig.answer(rig.pending('openSession'), opened('s2'))).toContain('call acquire audit')
  })

  test('an acquire that nobody waits for any more', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.start('audit')
    const attempt = rig.pending('acquire', 'audit')
    rig.stop('audit')
    expect(rig.answer(attempt, expired)).toEqual(ended)
  })

  test('a join', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.join('billing')
    expect(rig.answer(rig.pending('join'), expired)).toEqual([
      ...ended.slice(0, 6),
      'disarm group:billing',
      ...ended.slice(6),
    ])
    expect(rig.answer(rig.pending('openSession'), opened('s2'))).toContain('call join billing')
  })

  test('all elections compete again in the new session, with what they were waiting for forgotten', () => {
    const rig = Rig.live()
    rig.lead('leading', 7n)
    rig.start('waiting')
    rig.answer(rig.pending('acquire', 'waiting'), held)
    rig.start('trying')
    rig.lead('releasing', 4n)
    rig.stepDown('releasing', 0)
    rig.until(1_000)
    const effects = rig.answer(rig.pending('acquire', 'trying'), expired)
    expect(effects).toContain('disarm election:waiting')
    expect(effects).toContain('complete stepDown releasing 1')
    const calls = rig
      .answer(rig.pending('openSession'), opened('s2'))
      .filter((text) => text.startsWith('call'))
    expect(calls).toEqual([
      'call acquire leading',
      'call acquire waiting',
      'call acquire trying',
      'call acquire releasing',
    ])
  })

  test('what is heard of it later ends no other session', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.start('audit')
    rig.join('billing')
    const calls = [rig.pending('acquire', 'audit'), rig.pending('join')]
    rig.until(2_900)
    rig.fire('renew')
    rig.freezeUntil(3_000)
    rig.fire('renew')
    calls.push(rig.pending('keepAlive'))
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    rig.answer(rig.pending('acquire', 'report'), granted(9n))
    for (const call of calls) expect(rig.answer(call, expired)).toEqual([])
    expect(rig.state.elections.get('report')?.phase.phase).toBe('leader')
  })

  test('a renewal of it that is answered later prolongs nothing', () => {
    const rig = Rig.live()
    rig.until(3_000)
    const renewal = rig.pending('keepAlive')
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    rig.lead('report', 7n)
    expect(rig.answer(renewal, renewed({}))).toEqual([])
  })
})

describe('a session that nobody here uses any more', () => {
  test('is closed when its deadline passed: a renewal on its way could keep its leases from others', () => {
    const rig = Rig.live()
    rig.freezeUntil(9_800)
    expect(rig.fire('deadline')).toContain('call closeSession s1')
    expect(rig.answer(rig.pending('closeSession'))).toEqual([])
    expect(rig.state.abandoned.size).toBe(0)
  })

  test('is not closed when the backend has expired it', () => {
    const rig = Rig.live()
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), expired)).not.toContain('call closeSession s1')
  })

  test('is closed when it was opened after its opening had been given up', () => {
    const rig = new Rig()
    rig.boot()
    const first = rig.pending('openSession')
    rig.until(3_000)
    rig.until(3_100)
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.answer(first, opened('s1'))).toEqual(['call closeSession s1'])
  })

  test('is tried again while that fails, until the backend has expired it for certain', () => {
    const rig = Rig.live()
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    const times: number[] = []
    for (;;) {
      rig.fail(rig.pending('closeSession'))
      rig.until(rig.timers.get('abandoned') ?? rig.now)
      if (rig.state.abandoned.size === 0) break
      times.push(rig.now)
    }
    // Two leases from the deadline on: 29,800.
    expect(times).toEqual([12_800, 15_800, 18_800, 21_800, 24_800, 27_800, 30_800])
  })

  test('is tried again at once when a session could be opened: the backend is there again', () => {
    const rig = Rig.live()
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.fail(rig.pending('closeSession'))
    expect(rig.answer(rig.pending('openSession'), opened('s2'))).toContain('call closeSession s1')
  })

  test('is not asked for twice at a time', () => {
    const rig = Rig.live()
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    expect(rig.fire('abandoned')).toEqual([])
    const first = rig.pending('closeSession')
    rig.until(12_800)
    rig.until(15_800)
    expect(rig.pending('closeSession')).not.toBe(first)
    expect(rig.answer(first)).toEqual([]) // the later one is waited for
    expect(rig.answer(rig.pending('closeSession'))).toEqual([])
    expect(rig.state.abandoned.size).toBe(0)
  })

  test('an answer to an opening that comes twice does not close the session in use', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    const [opening] = rig.calls
    if (opening === undefined) throw new Error('no opening')
    expect(rig.answer(opening, opened('s1'))).toEqual([])
  })
})

describe('sessions that expire one after the other before their first renewal', () => {
  const expire = (rig: Rig) => {
    rig.until(rig.timers.get('renew') ?? rig.now)
    return rig.answer(rig.pending('keepAlive'), expired)
  }

  test('are opened with a growing delay from the second on', () => {
    const rig = Rig.live()
    expect(expire(rig)).toContain('call openSession')
    const delays: number[] = []
    for (let session = 2; session < 12; session += 1) {
      rig.until(rig.timers.get('renew') ?? rig.now)
      rig.answer(rig.pending('openSession'), opened(`s${session}`))
      expect(expire(rig)).not.toContain('call openSession')
      delays.push((rig.timers.get('renew') ?? 0) - rig.now)
    }
    expect(delays[0]).toBeGreaterThanOrEqual(200)
    expect(delays[0]).toBeLessThanOrEqual(400)
    expect(Math.min(...delays.slice(5))).toBeGreaterThanOrEqual(1_500)
    expect(Math.max(...delays)).toBeLessThanOrEqual(3_000)
  })

  test('are forgotten with the first renewal', () => {
    const rig = Rig.live()
    expire(rig)
    rig.answer(rig.pending('openSession'), opened('s2'))
    rig.renew()
    expect(expire(rig)).toContain('call openSession')
  })
})

describe('a report of timers that ran late', () => {
  test('is published when it endangered a term', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.freezeUntil(4_500)
    expect(rig.send({ type: 'late', lateMs: 1_500 })).toEqual(['publish EventLoopBlocked 1500 false'])
  })

  test('says that it cost the terms, before they end', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.freezeUntil(12_000)
    expect(rig.send({ type: 'late', lateMs: 9_000 }).slice(0, 2)).toEqual([
      'publish EventLoopBlocked 9000 true',
      'no deadline',
    ])
  })

  test('is published when it cost a term, however short it was', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.freezeUntil(9_800)
    expect(rig.send({ type: 'late', lateMs: 30 })).toContain('publish EventLoopBlocked 30 true')
  })

  test('is not news when it was short', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.freezeUntil(4_499)
    expect(rig.send({ type: 'late', lateMs: 1_499 })).toEqual([])
  })

  test('is not news when there is no term', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.send({ type: 'late', lateMs: 5_000 })).toEqual([])
    expect(new Rig().send({ type: 'late', lateMs: 5_000 })).toEqual([])
  })

  test('is published once, however many terms there are', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.lead('audit', 7n)
    expect(rig.send({ type: 'late', lateMs: 5_000 })).toHaveLength(1)
  })
})
