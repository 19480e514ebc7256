import { describe, expect, test } from 'vitest'
import { opened, Rig, renewed, TIMING } from './rig.js'

describe('L3: at most one keep-alive is in flight', () => {
  test('the next one waits for the answer or the timeout, whatever the timer does', () => {
    const rig = Rig.live()
    expect(rig.until(3_000)).toEqual(['call keepAlive s1'])
    expect(rig.fire('renew')).toEqual([])
    rig.until(5_999)
    expect(rig.calls.filter(({ request }) => request.op === 'keepAlive')).toHaveLength(1)
  })

  test('a timer that comes too early renews nothing', () => {
    const rig = Rig.live()
    rig.until(2_999)
    expect(rig.fire('renew')).toEqual([])
  })

  test('a call may take one renewal period', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.join('billing')
    rig.until(3_000)
    expect(rig.calls.map(({ request, timeoutMs }) => [request.op, timeoutMs])).toEqual([
      ['openSession', 3_000],
      ['acquire', 3_000],
      ['join', 3_000],
      ['keepAlive', 3_000],
    ])
  })
})

describe('a renewal that failed is tried again after half of what remains', () => {
  test('denser and denser, until the deadline', () => {
    const rig = Rig.live()
    const sent: number[] = []
    while (rig.state.session.phase === 'open') {
      rig.until(Math.min(...rig.timers.values()))
      if (rig.state.session.phase !== 'open') break
      sent.push(rig.now)
      rig.fail(rig.pending('keepAlive'))
    }
    // 9,800 - 3,000 = 6,800, of which the half is above a period of 3,000; then 3,800 / 2, 1,900 / 2, and so on down to 100.
    expect(sent).toEqual([3_000, 6_000, 7_900, 8_850, 9_325, 9_562.5, 9_681.25, 9_781.25])
    expect(rig.now).toBe(9_800)
  })

  test('never later than a renewal period', () => {
    const rig = Rig.live()
    rig.until(3_000)
    expect(rig.fail(rig.pending('keepAlive'))).toContain('arm renew 6000')
  })

  test('never sooner than the smallest backoff', () => {
    const rig = Rig.live({ ...TIMING, minBackoffMs: 1_000 })
    rig.until(3_000)
    rig.until(6_000)
    rig.until(7_900)
    rig.until(8_800)
    expect(rig.fail(rig.pending('keepAlive'))).toContain('arm renew 9800')
  })

  test('suspends the session once, with the time that is left, and the next success resumes it', () => {
    const rig = Rig.live()
    rig.until(3_000)
    expect(rig.fail(rig.pending('keepAlive'))).toEqual([
      'publish BackendCallFailed keepAlive - 0 false refused',
      'arm renew 6000',
      'publish SessionSuspended s1 6800 refused',
    ])
    rig.until(6_000)
    expect(rig.fail(rig.pending('keepAlive'))).toEqual([
      'publish BackendCallFailed keepAlive - 0 false refused',
      'arm renew 7900',
    ])
    rig.until(7_900)
    expect(rig.answer(rig.pending('keepAlive'), renewed())).toEqual([
      'deadline 17700',
      'arm deadline 17700',
      'arm renew 10900',
      'publish SessionResumed s1 9800',
    ])
    expect(rig.renew()).toEqual(['deadline 20700', 'arm deadline 20700', 'arm renew 13900'])
  })

  test('a failure that is told after the timeout of the same call does not count twice', () => {
    const rig = Rig.live()
    rig.until(3_000)
    const call = rig.pending('keepAlive')
    rig.until(6_000)
    expect(rig.fail(call)).toEqual(['publish BackendCallFailed keepAlive - 3000 false refused'])
  })
})

describe('a backend that grants too little for two renewals', () => {
  test('is asked every third of what is valid here, and that is published once per session', () => {
    const rig = new Rig()
    rig.boot()
    // 6,000 × 0.99 − 100 = 5,840: less than two periods of 3,000. A third is 1,946⅔.
    expect(rig.answer(rig.pending('openSession'), opened('s1', 6_000))).toEqual([
      'deadline 5840',
      'arm deadline 5840',
      `arm renew ${5_840 / 3}`,
      'publish SessionOpened s1 5840',
      `publish SessionLeaseShortened s1 10000 6000 ${5_840 / 3}`,
    ])
    rig.until(5_840 / 3)
    expect(rig.pending('keepAlive').timeoutMs).toBe(5_840 / 3)
    const effects = rig.answer(rig.pending('keepAlive'), renewed({}, 6_000))
    expect(effects).toEqual([
      `deadline ${5_840 / 3 + 5_840}`,
      `arm deadline ${5_840 / 3 + 5_840}`,
      `arm renew ${(5_840 / 3) * 2}`,
    ])
    rig.freezeUntil(100_000)
    rig.fire('deadline')
    expect(rig.answer(rig.pending('openSession'), opened('s2', 6_000))).toContain(
      `publish SessionLeaseShortened s2 10000 6000 ${5_840 / 3}`,
    )
  })

  test('may begin to do so at a later renewal, and may stop', () => {
    const rig = Rig.live()
    expect(rig.renew({}, 4_000)).toEqual([
      'deadline 6860',
      'arm deadline 6860',
      `publish SessionLeaseShortened s1 10000 4000 ${3_860 / 3}`,
      `arm renew ${3_000 + 3_860 / 3}`,
    ])
    expect(rig.renew({}, 10_000)[2]).toBe(`arm renew ${3_000 + 3_860 / 3 + 3_000}`)
    expect(rig.renew({}, 4_000).join()).not.toContain('SessionLeaseShortened')
  })

  test('a shorter grant that has room for two renewals changes nothing', () => {
    const rig = new Rig()
    rig.boot()
    // 6,162 × 0.99 − 100 = 6,000.38
    expect(rig.answer(rig.pending('openSession'), opened('s1', 6_162))).toEqual([
      'deadline 6000.38',
      'arm deadline 6000.38',
      'arm renew 3000',
      'publish SessionOpened s1 6000.38',
    ])
  })

  test('a full grant is not called short when the configured period leaves no room for two', () => {
    const rig = Rig.live({ ...TIMING, renewMs: 5_000 })
    expect(rig.renew()).toEqual(['deadline 14800', 'arm deadline 14800', 'arm renew 10000'])
  })
})

describe('opening a session', () => {
  test('happens at the first use, and once', () => {
    const rig = new Rig()
    expect(rig.start('report')).toEqual(['call openSession'])
    expect(rig.start('audit')).toEqual([])
    expect(rig.join('billing')).toEqual([])
    expect(rig.boot()).toEqual([])
    expect(
      rig.answer(rig.pending('openSession'), opened('s1')).filter((text) => text.startsWith('call')),
    ).toEqual(['call acquire report', 'call acquire audit', 'call join billing'])
  })

  test('joining opens one too', () => {
    expect(new Rig().join('billing')).toEqual(['call openSession'])
  })

  test('that fails is tried again, later and later up to a renewal period', () => {
    const rig = new Rig()
    rig.boot()
    const delays: number[] = []
    for (let failure = 0; failure < 20; failure += 1) {
      rig.fail(rig.pending('openSession'))
      const at = rig.timers.get('renew') ?? 0
      delays.push(at - rig.now)
      expect(rig.fire('renew')).toEqual([]) // too early
      rig.timers.set('renew', at)
      expect(rig.until(at)).toEqual(['call openSession'])
    }
    delays.forEach((delay, failures) => {
      const ceiling = Math.min(3_000, 100 * 2 ** failures)
      expect(delay).toBeGreaterThanOrEqual(Math.max(100, ceiling / 2) - 1e-6)
      expect(delay).toBeLessThanOrEqual(ceiling + 1e-6)
    })
  })

  test('starts over with the backoff after a success', () => {
    const rig = new Rig()
    rig.boot()
    for (let failure = 0; failure < 10; failure += 1) {
      rig.fail(rig.pending('openSession'))
      rig.until(rig.timers.get('renew') ?? 0)
    }
    rig.answer(rig.pending('openSession'), opened('s1'))
    rig.freezeUntil(rig.now + 9_800)
    rig.fire('deadline')
    rig.fail(rig.pending('openSession'))
    expect((rig.timers.get('renew') ?? 0) - rig.now).toBeLessThanOrEqual(100)
  })

  test('an answer to an opening that was given up is not used', () => {
    const rig = new Rig()
    rig.boot()
    const first = rig.pending('openSession')
    rig.until(3_100)
    const second = rig.pending('openSession')
    expect(second).not.toBe(first)
    expect(rig.answer(first, opened('s1'))).toEqual(['call closeSession s1'])
    expect(rig.answer(second, opened('s2'))).toContain(
      `publish SessionOpened s2 ${second.sentAt + 9_800 - rig.now}`,
    )
  })

  test('a failure of an opening that was given up changes nothing', () => {
    const rig = new Rig()
    rig.boot()
    const first = rig.pending('openSession')
    rig.until(3_100)
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.fail(first)).toEqual(['publish BackendCallFailed openSession - 3100 false refused'])
  })
})
