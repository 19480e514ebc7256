import { describe, expect, test } from 'vitest'
import { granted, held, opened, Rig } from './rig.js'

describe('a step-down', () => {
  test('hands over and stays away until the cooldown is over, which counts from the call', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.until(1_000)
    rig.stepDown('report', 5_000)
    rig.until(2_500)
    expect(rig.workExited('report')).toEqual(['disarm election:report', 'call release report 7'])
    rig.until(2_600)
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
      'arm election:report 6000',
    ])
    rig.renew()
    expect(rig.until(5_999)).toEqual([])
    expect(rig.until(6_000)).toContain('call acquire report')
  })

  test('whose hand-over took longer than the cooldown competes at once', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stepDown('report', 1_000)
    rig.until(1_000)
    rig.workExited('report')
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
      'call acquire report',
    ])
  })

  test('with a cooldown of 0 competes as soon as the lease was given back', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stepDown('report', 0)
    expect(rig.answer(rig.pending('release'))).toContain('call acquire report')
    expect(rig.answer(rig.pending('acquire'), granted(8n))).toContain('elected report 8')
  })

  test('hands over at the deadline as it stood, and then cools down for what is left', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stepDown('report', 11_000)
    rig.renew({ report: 7n })
    rig.renew({ report: 7n })
    rig.until(9_799)
    expect(rig.until(9_800)).toEqual(['disarm election:report', 'call release report 7'])
    expect(rig.answer(rig.pending('release'))).toContain('arm election:report 11000')
  })

  test('twice: both are done with the hand-over, and the later end of the cooldowns counts', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stepDown('report', 8_000, 1)
    rig.until(1_000)
    expect(rig.stepDown('report', 2_000, 2)).toEqual([])
    expect(rig.workExited('report')).toContain('call release report 7')
    expect(rig.stepDown('report', 3_000, 3)).toEqual([])
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
      'complete stepDown report 2',
      'complete stepDown report 3',
      'arm election:report 8000',
    ])
  })

  test('again while cooling down: done at once, and never shortens the cooldown', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.stepDown('report', 8_000, 1)
    rig.until(1_000)
    expect(rig.stepDown('report', 2_000, 2)).toEqual([
      'complete stepDown report 2',
      'arm election:report 8000',
    ])
    expect(rig.stepDown('report', 9_000, 3)).toEqual([
      'complete stepDown report 3',
      'arm election:report 10000',
    ])
  })

  test('of a mere candidate cools down too', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), held)
    expect(rig.stepDown('report', 5_000)).toEqual([
      'disarm election:report',
      'complete stepDown report 1',
      'arm election:report 5000',
    ])
    rig.until(3_000)
    rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] })
    expect(rig.until(4_999)).toEqual([])
    expect(rig.until(5_000)).toEqual(['call acquire report'])
  })

  test('of a candidate gives up its attempt: what that wins is given back, and it competes after the cooldown', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.stepDown('report', 5_000)
    rig.until(1_000)
    expect(rig.answer(attempt, granted(7n))).toEqual([
      'call release report 7',
      'publish OrphanReleased report 7',
    ])
    expect(rig.answer(rig.pending('release'))).toEqual([])
    rig.renew()
    expect(rig.until(5_000)).toEqual(['call acquire report'])
  })

  test('of a candidate whose attempt is still in flight after the cooldown waits for its answer', () => {
    const rig = Rig.live()
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.stepDown('report', 1_000)
    expect(rig.until(1_000)).toEqual([])
    expect(rig.answer(attempt, held)).toEqual(['call acquire report'])
  })

  test('followed by a stop during the hand-over: the stop wins, and both are done', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stepDown('report', 5_000)
    expect(rig.stop('report')).toEqual([])
    expect(rig.workExited('report')).toEqual(['disarm election:report', 'call release report 7'])
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
      'complete stop report',
    ])
  })

  test('followed by a stop during the release', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stepDown('report', 5_000)
    expect(rig.stop('report')).toEqual([])
    expect(rig.answer(rig.pending('release'))).toContain('complete stop report')
  })

  test('after a stop does not start the election again', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stop('report')
    expect(rig.stepDown('report', 5_000)).toEqual([])
    rig.workExited('report')
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STOPPED',
      'complete stepDown report 1',
      'complete stop report',
    ])
  })

  test('of an election that is not started is nothing', () => {
    expect(Rig.live().stepDown('report', 5_000)).toEqual([])
  })

  test('a session that ends during the hand-over finishes it; the cooldown goes on', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.until(1_000)
    rig.stepDown('report', 15_000)
    rig.freezeUntil(9_800)
    const effects = rig.fire('deadline')
    expect(effects).toContain('complete term report STEPPED_DOWN')
    expect(effects).toContain('complete stepDown report 1')
    expect(effects).toContain('arm election:report 16000')
    expect(rig.answer(rig.pending('openSession'), opened('s2')).join()).not.toContain('acquire')
  })

  test('a cooldown that ends without a session is followed by an attempt as soon as there is one', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), held)
    rig.stepDown('report', 9_900)
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    expect(rig.until(9_900)).toEqual([])
    expect(rig.answer(rig.pending('openSession'), opened('s2'))).toContain('call acquire report')
  })
})

describe('an exclusive election', () => {
  const lose = (rig: Rig) => {
    rig.lead('report', 7n, 'exclusive')
    rig.until(3_000)
    return rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] })
  }

  test('does not compete before the work of its lost term has exited', () => {
    const rig = Rig.live()
    expect(lose(rig)).not.toContain('call acquire report')
    expect(rig.released('report')).toEqual([])
    expect(rig.fire('election:report')).toEqual([])
    expect(rig.workExited('report')).toEqual(['call acquire report'])
  })

  test('competes at once when its work had exited before', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'exclusive')
    rig.workExited('report')
    rig.until(3_000)
    expect(
      rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] }),
    ).toContain('call acquire report')
  })

  test('stays away through the end of its session', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'exclusive')
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    expect(rig.answer(rig.pending('openSession'), opened('s2')).join()).not.toContain('acquire')
    rig.freezeUntil(19_600)
    rig.fire('deadline')
    expect(rig.answer(rig.pending('openSession'), opened('s3')).join()).not.toContain('acquire')
    expect(rig.workExited('report')).toEqual(['call acquire report'])
  })

  test('stays away through a cooldown that is over before its work is', () => {
    const rig = Rig.live()
    lose(rig)
    rig.stepDown('report', 1_000)
    expect(rig.until(4_000)).toEqual([])
    expect(rig.workExited('report')).toEqual(['call acquire report'])
  })

  test('whose work exits during the cooldown competes at its end', () => {
    const rig = Rig.live()
    lose(rig)
    rig.stepDown('report', 2_000)
    rig.until(4_000)
    expect(rig.workExited('report')).toEqual([])
    expect(rig.until(5_000)).toEqual(['call acquire report'])
  })

  test('the exit of some other term does not end the wait', () => {
    const rig = Rig.live()
    lose(rig)
    const exit = (term: number) =>
      rig.send({ type: 'workExited', name: 'report', start: rig.startOf('report'), term })
    expect(exit(rig.termOf('report') + 1)).toEqual([])
    rig.stepDown('report', 500)
    expect(exit(rig.termOf('report') + 1)).toEqual([])
    expect(rig.until(3_500)).toEqual([])
    expect(exit(rig.termOf('report'))).toEqual(['call acquire report'])
  })

  test('that gave its lease back at the deadline while work goes on waits for the work too', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'exclusive')
    rig.stepDown('report', 0)
    rig.renew({ report: 7n })
    rig.renew({ report: 7n })
    rig.until(9_800)
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
    ])
    expect(rig.workExited('report')).toEqual(['call acquire report'])
  })

  test('whose work exits during the release competes after it', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'exclusive')
    rig.stepDown('report', 0)
    rig.renew({ report: 7n })
    rig.renew({ report: 7n })
    rig.until(9_800)
    expect(rig.workExited('report')).toEqual([])
    expect(rig.answer(rig.pending('release'))).toContain('call acquire report')
  })

  test('that waits for work is stopped at once', () => {
    const rig = Rig.live()
    lose(rig)
    expect(rig.stop('report')).toEqual(['disarm election:report', 'complete stop report'])
    expect(rig.workExited('report')).toEqual([])
  })

  test('a working one that is not exclusive competes at once, whatever its work does', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.until(3_000)
    expect(
      rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] }),
    ).toContain('call acquire report')
  })
})

describe('a lock', () => {
  test('ends with its first term, also when that is lost', () => {
    const rig = Rig.live()
    rig.lead('order', 7n, 'lock')
    rig.until(3_000)
    expect(rig.answer(rig.pending('keepAlive'), { kind: 'renewed', remainingMs: 10_000, owned: [] })).toEqual(
      [
        'deadline 12800',
        'arm deadline 12800',
        'arm renew 6000',
        'revoked order TAKEN_OVER',
        'publish Revoked order 7 TAKEN_OVER',
        'complete term order TAKEN_OVER',
        'complete stop order',
      ],
    )
  })

  test('that steps down does not come back', () => {
    const rig = Rig.live()
    rig.lead('order', 7n, 'lock')
    rig.stepDown('order', 0)
    rig.workExited('order')
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term order STEPPED_DOWN',
      'complete stepDown order 1',
      'complete stop order',
    ])
  })

  test('is told of each attempt that was not granted, and by whom it is held', () => {
    const rig = Rig.live()
    rig.start('order', 'lock')
    expect(rig.answer(rig.pending('acquire'), { kind: 'held', holder: 's9' })).toEqual([
      'publish LeaseHeld order s9',
      'watch order',
      'attempted order held s9',
      'arm election:order 1500',
    ])
    rig.until(1_500)
    expect(rig.fail(rig.pending('acquire'))).toEqual([
      'publish BackendCallFailed acquire order 0 false refused',
      'attempted order failed refused',
      'arm election:order 3000',
    ])
  })

  test('is told when no session can be opened', () => {
    const rig = new Rig()
    rig.start('order', 'lock')
    rig.start('report')
    expect(rig.fail(rig.pending('openSession'))).toEqual([
      'publish BackendCallFailed openSession - 0 false refused',
      'attempted order failed refused',
      'arm renew 100',
    ])
  })

  test('an election is not told of attempts', () => {
    const rig = Rig.live()
    rig.start('report')
    expect(rig.answer(rig.pending('acquire'), held).join()).not.toContain('attempted')
    rig.until(1_500)
    expect(rig.fail(rig.pending('acquire')).join()).not.toContain('attempted')
  })
})
