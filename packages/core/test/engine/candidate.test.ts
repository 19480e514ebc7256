import { describe, expect, test } from 'vitest'
import { granted, held, heldBy, opened, Rig, renewed, TIMING } from './rig.js'

describe('L4: a grant becomes a term', () => {
  test('as the answer to the current attempt, in time, with a new token', () => {
    const rig = Rig.live()
    expect(rig.start('report')).toEqual(['call acquire report'])
    expect(rig.answer(rig.pending('acquire'), granted(7n))).toEqual([
      'elected report 7',
      'publish Elected report 7',
    ])
  })

  test('not as the answer to an attempt that timed out, when a later one is in flight', () => {
    const rig = Rig.live()
    rig.start('report')
    const first = rig.pending('acquire')
    rig.until(3_000)
    rig.until(4_500)
    const second = rig.pending('acquire')
    expect(rig.answer(first, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
    ])
    // The lease is ours still, so the backend grants it again; but it is on its way back.
    expect(rig.answer(second, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
      'arm election:report 6000',
    ])
  })

  test('not when the election was stopped meanwhile', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.stop('report')
    expect(rig.answer(attempt, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
    ])
  })

  test('not when the candidate stepped down meanwhile', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.stepDown('report', 20_000)
    expect(rig.answer(attempt, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
    ])
  })

  test('not for a later start of the name: its own attempt waits for the answer to the earlier one', () => {
    const rig = Rig.live()
    rig.start('report')
    const first = rig.pending('acquire')
    rig.stop('report')
    expect(rig.start('report')).toEqual([])
    expect(rig.answer(first, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
    ])
    expect(rig.answer(rig.pending('release'))).toEqual(['call acquire report'])
    expect(rig.answer(rig.pending('acquire'), granted(8n))).toContain('elected report 8')
  })

  test('not in another session than the one that asked', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.answer(attempt, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
    ])
    expect(rig.calls.at(-1)?.request).toMatchObject({ op: 'release', session: { id: 's1' } })
    expect(rig.answer(rig.pending('acquire'), granted(8n))).toContain('elected report 8')
  })

  test.each([6n, 7n])('not with a token that is not above the released one: %s after 7', (token) => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    rig.answer(rig.pending('release'))
    rig.start('report')
    expect(rig.answer(rig.pending('acquire'), granted(token))).toEqual([
      `call release report ${token}`,
      `publish OrphanReleased report ${token}`,
      'arm election:report 1500',
    ])
  })

  test('with a token that was released by an earlier session: that one is over, and its tokens with it', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    rig.answer(rig.pending('release'))
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    rig.start('report')
    expect(rig.answer(rig.pending('acquire'), granted(7n))).toContain('elected report 7')
  })

  test('while the release of the same name is in flight nobody acquires it', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stepDown('report', 0)
    expect(rig.released('report')).toEqual([])
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
      'call acquire report',
    ])
  })

  test('granted once more to an attempt that was given up, the running term keeps its lease', () => {
    const rig = Rig.live()
    rig.start('report')
    const first = rig.pending('acquire')
    rig.until(4_500)
    rig.answer(rig.pending('acquire'), granted(7n))
    expect(rig.answer(first, granted(7n))).toEqual([])
  })

  test('granted with another token to an attempt that was given up, that token is given back', () => {
    const rig = Rig.live()
    rig.start('report')
    const first = rig.pending('acquire')
    rig.until(4_500)
    rig.answer(rig.pending('acquire'), granted(7n))
    expect(rig.answer(first, granted(6n))).toEqual([
      'call release report 6',
      'publish OrphanReleased report 6',
    ])
  })

  test('granted once more to an attempt that was given up, a hand-over keeps its lease', () => {
    const rig = Rig.live()
    rig.start('report', 'working')
    const first = rig.pending('acquire')
    rig.until(4_500)
    rig.answer(rig.pending('acquire'), granted(7n))
    rig.stop('report')
    expect(rig.answer(first, granted(7n))).toEqual([])
  })
})

describe('L3: one acquire per name is in flight', () => {
  test('whatever hints, timers and starts come', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.released('report')).toEqual([])
    expect(rig.fire('election:report')).toEqual([])
    expect(rig.send({ type: 'start', name: 'report', start: 99, kind: 'lock' })).toEqual([])
  })

  test('also when the candidate steps down and is back at once', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    expect(rig.stepDown('report', 0)).toEqual(['disarm election:report', 'complete stepDown report 1'])
    expect(rig.answer(attempt, held)).toEqual(['call acquire report'])
  })
})

describe('a candidate tries again', () => {
  test('after half a renewal period', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.answer(rig.pending('acquire'), heldBy('s9'))).toEqual([
      'publish LeaseHeld report s9',
      'watch report',
      'arm election:report 1500',
    ])
    expect(rig.until(1_499)).toEqual([])
    expect(rig.fire('election:report')).toEqual([]) // too early
    rig.timers.set('election:report', 1_500)
    expect(rig.until(1_500)).toEqual(['disarm election:report', 'call acquire report'])
  })

  test('and a random part of the jitter, which is another one each time', () => {
    const rig = Rig.live({ ...TIMING, leaseMs: 10_000_000, retryJitterMs: 1_000 }, 1, 10_000_000)
    rig.start('report')
    const delays: number[] = []
    for (let attempt = 0; attempt < 200; attempt += 1) {
      rig.until(rig.timers.get('election:report') ?? rig.now)
      const sentAt = rig.now
      rig.answer(rig.pending('acquire'), held)
      delays.push((rig.timers.get('election:report') ?? 0) - sentAt)
    }
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(1_500)
    expect(Math.min(...delays)).toBeLessThan(1_550)
    expect(Math.max(...delays)).toBeLessThan(2_500)
    expect(Math.max(...delays)).toBeGreaterThan(2_450)
    expect(new Set(delays).size).toBeGreaterThan(190)
  })

  test('after a failure as well', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.fail(rig.pending('acquire'))).toEqual([
      'publish BackendCallFailed acquire report 0 false refused',
      'arm election:report 1500',
    ])
  })

  test('after a timeout as well, counted from it', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.until(2_999)
    expect(rig.until(3_000)).toContain('arm election:report 4500')
  })

  test('and tells of the holder once, and again when there is another', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.answer(rig.pending('acquire'), heldBy('s9'))).toContain('publish LeaseHeld report s9')
    rig.until(1_500)
    expect(rig.answer(rig.pending('acquire'), heldBy('s9'))).toEqual(['arm election:report 3000'])
    rig.until(3_000)
    expect(rig.answer(rig.pending('acquire'), heldBy('s8'))).toEqual([
      'publish LeaseHeld report s8',
      'arm election:report 4500',
    ])
  })

  test('tells of a holder that the backend does not know', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.answer(rig.pending('acquire'), held)).toContain('publish LeaseHeld report -')
    rig.until(1_500)
    expect(rig.answer(rig.pending('acquire'), held)).toEqual(['arm election:report 3000'])
  })

  test('tells of the same holder again after a term of its own', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), heldBy('s9'))
    rig.until(1_500)
    rig.answer(rig.pending('acquire'), granted(7n))
    rig.stepDown('report', 0)
    rig.answer(rig.pending('release'))
    expect(rig.answer(rig.pending('acquire'), heldBy('s9'))).toContain('publish LeaseHeld report s9')
  })

  test('has nothing to watch any more once elected, or stopped', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), held)
    rig.until(1_500)
    expect(rig.answer(rig.pending('acquire'), granted(7n))[0]).toBe('unwatch report')
    rig.start('audit')
    rig.answer(rig.pending('acquire', 'audit'), held)
    expect(rig.stop('audit')).toEqual(['disarm election:audit', 'unwatch audit', 'complete stop audit'])
  })
})

describe('a hint that the lease was released', () => {
  test('while the candidate waits makes it try at once', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), held)
    rig.until(200)
    expect(rig.released('report')).toEqual(['disarm election:report', 'call acquire report'])
  })

  test('during an attempt is remembered: the next attempt follows at once', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.released('report')
    expect(rig.answer(rig.pending('acquire'), held)).toEqual([
      'publish LeaseHeld report -',
      'watch report',
      'call acquire report',
    ])
    expect(rig.answer(rig.pending('acquire'), held)).toEqual(['arm election:report 1500'])
  })

  test('while its own release is in flight is not lost: the attempt follows the answer', () => {
    const rig = Rig.live()
    rig.start('report')
    const first = rig.pending('acquire')
    rig.until(4_500)
    rig.answer(first, granted(7n))
    rig.answer(rig.pending('acquire'), granted(7n)) // on its way back: refused
    rig.released('report')
    rig.answer(rig.pending('release'))
    expect(rig.answer(rig.pending('release'))).toEqual(['call acquire report'])
  })

  test.each([
    ['leads', (rig: Rig) => rig.lead('report', 7n)],
    ['hands over', (rig: Rig) => [rig.lead('report', 7n, 'working'), rig.stop('report')]],
    ['is releasing', (rig: Rig) => [rig.lead('report', 7n), rig.stop('report')]],
    ['cools down', (rig: Rig) => [rig.start('report'), rig.stepDown('report', 5_000)]],
    [
      'waits for a session',
      (rig: Rig) => [rig.start('report'), rig.freezeUntil(9_800), rig.fire('deadline')],
    ],
    ['is not started', () => []],
  ])('means nothing to an election that %s', (_, arrange) => {
    const rig = Rig.live()
    arrange(rig)
    expect(rig.released('report')).toEqual([])
  })
})

describe('elections of one client', () => {
  test('do not disturb each other', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.start('audit')
    rig.answer(rig.pending('acquire', 'audit'), held)
    expect(rig.stop('report')).toEqual([
      'revoked report STOPPED',
      'publish Revoked report 7 STOPPED',
      'call release report 7',
    ])
    expect(rig.until(1_500)).toEqual(['disarm election:audit', 'call acquire audit'])
  })

  test('a command for an earlier start of a name does not touch the later one', () => {
    const rig = Rig.live()
    rig.start('report')
    const earlier = rig.startOf('report')
    rig.stop('report')
    rig.answer(rig.pending('acquire'), held)
    rig.lead('report', 7n, 'working')
    expect(rig.send({ type: 'stop', name: 'report', start: earlier })).toEqual([])
    expect(rig.send({ type: 'stepDown', name: 'report', start: earlier, call: 1, cooldownMs: 1 })).toEqual([])
    rig.stop('report')
    const term = rig.termOf('report')
    expect(rig.send({ type: 'workExited', name: 'report', start: earlier, term })).toEqual([])
    expect(
      rig.send({ type: 'workExited', name: 'report', start: rig.startOf('report'), term: term + 1 }),
    ).toEqual([])
  })

  test('a renewal keeps all of them', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.lead('audit', 3n)
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), renewed({ report: 7n, audit: 3n }))).toEqual([
      'deadline 12800',
      'arm deadline 12800',
      'arm renew 6000',
    ])
  })
})
