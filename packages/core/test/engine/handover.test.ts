import { describe, expect, test } from 'vitest'
import { errorOf, granted, opened, Rig } from './rig.js'

describe('L2: a term is revoked before its lease is released, and the release carries its token', () => {
  test('when it is stopped', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    expect(rig.stop('report')).toEqual([
      'revoked report STOPPED',
      'publish Revoked report 7 STOPPED',
      'call release report 7',
    ])
    expect(rig.calls.at(-1)?.request).toMatchObject({ session: { id: 's1', leaseMs: 10_000 }, token: 7n })
  })

  test('when it steps down', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    expect(rig.stepDown('report', 5_000)).toEqual([
      'revoked report STEPPED_DOWN',
      'publish Revoked report 7 STEPPED_DOWN',
      'call release report 7',
    ])
  })
})

describe('L8: a hand-over', () => {
  test('without work releases at once; the stop is done when the release was answered', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STOPPED',
      'complete stop report',
    ])
  })

  test('with work waits for its exit, then releases, then is done', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    expect(rig.stop('report')).toEqual([
      'revoked report STOPPED',
      'publish Revoked report 7 STOPPED',
      'arm election:report 9800',
    ])
    rig.until(2_000)
    expect(rig.workExited('report')).toEqual(['disarm election:report', 'call release report 7'])
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STOPPED',
      'complete stop report',
    ])
  })

  test('whose work has exited before releases at once', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    expect(rig.workExited('report')).toEqual([])
    expect(rig.stop('report')).toContain('call release report 7')
  })

  test('waits for work until the deadline as it stood at the stop, although renewals go on', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.until(1_000)
    rig.stop('report')
    expect(rig.renew({ report: 7n })).toEqual(['deadline 12800', 'arm deadline 12800', 'arm renew 6000'])
    expect(rig.renew({ report: 7n })).toContain('deadline 15800')
    rig.until(9_799)
    expect(rig.until(9_800)).toEqual(['disarm election:report', 'call release report 7'])
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STOPPED',
      'complete stop report',
    ])
  })

  test('a timer that comes before that deadline does not end the wait', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stop('report')
    rig.until(5_000)
    expect(rig.fire('election:report')).toEqual([])
  })

  test.each([
    ['failed', (rig: Rig) => rig.fail(rig.pending('release'))],
    ['was not answered in time', (rig: Rig) => rig.until(3_000).concat(rig.until(6_000))],
  ])('is done as well when the release %s: the lease goes with the session at the latest', (_, reply) => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(100)
    rig.stop('report')
    const effects = reply(rig)
    expect(effects).toContain('complete term report STOPPED')
    expect(effects).toContain('complete stop report')
  })

  test('is done when the session ends before the work does', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stop('report')
    rig.freezeUntil(9_800)
    expect(rig.fire('deadline')).toEqual([
      'no deadline',
      'disarm deadline',
      'disarm renew',
      'disarm election:report',
      'complete term report STOPPED',
      'complete stop report',
      'publish SessionEnded s1 DEADLINE_PASSED',
      'call closeSession s1',
      'call openSession',
    ])
  })

  test('is done when the session ends before the release is answered, and the late answer means nothing', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(8_000)
    rig.answer(rig.pending('keepAlive'), { kind: 'expired' })
    rig.answer(rig.pending('openSession'), opened('s2'))
    rig.answer(rig.pending('acquire'), granted(8n))
    rig.stop('report')
    const release = rig.pending('release')
    rig.freezeUntil(17_800)
    const effects = rig.fire('deadline')
    expect(effects).toContain('complete term report STOPPED')
    expect(effects).toContain('complete stop report')
    expect(rig.answer(release)).toEqual([])
  })

  test('a late answer to the release of an earlier term does not finish the hand-over of a later one', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stepDown('report', 0)
    const first = rig.pending('release')
    rig.fail(first)
    rig.answer(rig.pending('acquire'), granted(8n))
    rig.stop('report')
    expect(rig.answer(first)).toEqual([])
    expect(rig.answer(rig.pending('release'))).toContain('complete stop report')
  })

  test('of one election does not delay another', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.lead('audit', 3n, 'working')
    rig.stop('report')
    rig.stop('audit')
    expect(rig.workExited('audit')).toEqual(['disarm election:audit', 'call release audit 3'])
  })

  test('stopped twice is stopped once', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stop('report')
    expect(rig.stop('report')).toEqual([])
    rig.workExited('report')
    expect(rig.stop('report')).toEqual([])
    rig.answer(rig.pending('release'))
    expect(rig.stop('report')).toEqual([])
  })
})

describe('a lost term is not handed over: others may own the lease already', () => {
  test('its work is not waited for and nothing is released', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] })).toEqual(
      [
        'deadline 12800',
        'arm deadline 12800',
        'arm renew 6000',
        'revoked report TAKEN_OVER',
        'publish Revoked report 7 TAKEN_OVER',
        'complete term report TAKEN_OVER',
        'call acquire report',
      ],
    )
  })

  test('the exit of its work later means nothing', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.until(3_000)
    rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] })
    expect(rig.workExited('report')).toEqual([])
    rig.answer(rig.pending('acquire'), granted(9n))
    expect(
      rig.send({
        type: 'workExited',
        name: 'report',
        start: rig.startOf('report'),
        term: rig.termOf('report') - 1,
      }),
    ).toEqual([])
    expect(rig.stop('report')).toContain('arm election:report 12800')
  })
})

describe('a stop', () => {
  test('of a candidate is done at once', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.stop('report')).toEqual(['disarm election:report', 'complete stop report'])
  })

  test('of a candidate that waits for its session is done at once', () => {
    const rig = new Rig()
    rig.start('report')
    expect(rig.stop('report')).toEqual(['disarm election:report', 'complete stop report'])
    expect(rig.answer(rig.pending('openSession'), opened('s1')).join()).not.toContain('acquire')
  })

  test('of one that cools down is done at once', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.stepDown('report', 5_000)
    expect(rig.stop('report')).toEqual(['disarm election:report', 'complete stop report'])
  })

  test('of one that is not started is nothing', () => {
    expect(Rig.live().stop('report')).toEqual([])
  })

  test('of a candidate tells nothing of a failed attempt afterwards', () => {
    const rig = Rig.live()
    rig.start('report', 'lock')
    const attempt = rig.pending('acquire')
    rig.stop('report')
    expect(rig.fail(attempt)).toEqual([
      `publish BackendCallFailed acquire report 0 false ${errorOf('refused').message}`,
    ])
  })
})
