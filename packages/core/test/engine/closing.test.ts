import { describe, expect, test } from 'vitest'
import { expired, granted, joined, opened, Rig, TIMING } from './rig.js'

/** What remains to be disarmed at the very end. */
const END = ['disarm renew', 'disarm deadline', 'disarm abandoned', 'disarm close']

describe('a close', () => {
  test('of a client that never did anything is done at once', () => {
    expect(new Rig().close()).toEqual([...END, 'complete close 3000'])
  })

  test('without work ends all terms and closes the session, which gives back all leases', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.lead('audit', 3n)
    rig.start('other')
    rig.member('billing')
    expect(rig.close()).toEqual([
      'revoked report STOPPED',
      'publish Revoked report 7 STOPPED',
      'revoked audit STOPPED',
      'publish Revoked audit 3 STOPPED',
      'disarm election:other',
      'complete stop other',
      'call closeSession s1',
      'arm close 3000',
    ])
    rig.until(100)
    expect(rig.answer(rig.pending('closeSession'))).toEqual([
      'no deadline',
      'disarm deadline',
      'disarm renew',
      'complete term report STOPPED',
      'complete stop report',
      'complete term audit STOPPED',
      'complete stop audit',
      'disarm group:billing',
      'unwatch billing',
      'members billing none',
      'publish SessionEnded s1 CLOSED',
      'disarm group:billing',
      'complete groupStop billing',
      ...END,
      'complete close 2900',
    ])
  })

  test('with work waits for it, and then closes the session', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    expect(rig.close()).toEqual([
      'revoked report STOPPED',
      'publish Revoked report 7 STOPPED',
      'arm election:report 9800',
    ])
    rig.until(2_000)
    expect(rig.workExited('report')).toEqual([
      'disarm election:report',
      'call closeSession s1',
      'arm close 5000',
    ])
    expect(rig.answer(rig.pending('closeSession'))).toContain('complete stop report')
  })

  test('with work gives the finished leases back by themselves: others need not wait for the slowest work', () => {
    const rig = Rig.live()
    rig.lead('slow', 7n, 'working')
    rig.lead('quick', 3n, 'working')
    rig.lead('plain', 4n)
    expect(rig.close()).toContain('call release plain 4')
    expect(rig.workExited('quick')).toEqual(['disarm election:quick', 'call release quick 3'])
    expect(rig.answer(rig.pending('release', 'quick'))).toEqual([
      'complete term quick STOPPED',
      'complete stop quick',
    ])
    expect(rig.workExited('slow')).toContain('call closeSession s1')
    expect(rig.answer(rig.pending('closeSession'))).toContain('complete stop plain')
  })

  test('with work leaves the groups at once', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.member('billing')
    expect(rig.close().slice(-4)).toEqual([
      'disarm group:billing',
      'unwatch billing',
      'members billing none',
      'call leave billing',
    ])
    expect(rig.answer(rig.pending('leave'))).toContain('complete groupStop billing')
  })

  test('renews the session while it waits for work, and competes for nothing', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.start('other')
    const attempt = rig.pending('acquire', 'other')
    rig.close()
    expect(rig.answer(attempt, granted(9n))).toEqual([
      'call release other 9',
      'publish OrphanReleased other 9',
    ])
    expect(rig.renew({ report: 7n })).toContain('deadline 12800')
    rig.until(9_799)
    expect(rig.until(9_800)).toEqual(['disarm election:report', 'call closeSession s1', 'arm close 12800'])
  })

  test('does not renew the session any more once it is being closed', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(2_000)
    rig.close()
    expect(rig.until(4_999)).toEqual([])
    expect(rig.fire('renew')).toEqual([])
  })

  test('with work that never exits goes on at the deadline as it stood', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.close()
    rig.freezeUntil(9_800)
    expect(rig.fire('election:report')).toContain('complete close 3000')
  })

  test('waits no longer than one call for a backend that never answers', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(1_000)
    rig.close()
    expect(rig.pending('closeSession').timeoutMs).toBe(3_000)
    expect(rig.until(3_999)).toEqual([])
    const effects = rig.until(4_000)
    expect(effects).toContain('complete term report STOPPED')
    expect(effects).toContain('complete stop report')
    expect(effects.at(-1)).toBe('complete close 0')
  })

  test('is done at that time even if the call is not told to have timed out', () => {
    const rig = Rig.live()
    rig.close()
    rig.freezeUntil(3_000)
    expect(rig.fire('close')).toContain('complete close 0')
  })

  test('tries again when the closing of the session failed, within the same time', () => {
    const rig = Rig.live()
    rig.close()
    rig.until(500)
    expect(rig.fail(rig.pending('closeSession'))).toEqual([
      'publish BackendCallFailed closeSession - 500 false refused',
      'arm close 600',
    ])
    expect(rig.until(600)).toEqual(['call closeSession s1', 'arm close 3000'])
    expect(rig.pending('closeSession').timeoutMs).toBe(2_400)
    rig.until(2_950)
    expect(rig.fail(rig.pending('closeSession'))).toContain('arm close 3000')
    expect(rig.until(3_000)).toContain('complete close 0')
  })

  test('is not done by an answer to the closing of another session', () => {
    const rig = Rig.live()
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    const other = rig.pending('closeSession')
    rig.answer(rig.pending('openSession'), opened('s2'))
    rig.close()
    expect(rig.answer(other)).toEqual([])
  })

  test('twice is one', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.close()
    expect(rig.close()).toEqual([])
    rig.workExited('report')
    expect(rig.close()).toEqual([])
    rig.answer(rig.pending('closeSession'))
    expect(rig.close()).toEqual([])
    expect(rig.start('report')).toEqual([])
  })

  test('takes no new elections, groups or sessions', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.close()
    expect(rig.start('other')).toEqual([])
    expect(rig.join('billing')).toEqual([])
    expect(rig.boot()).toEqual([])
  })

  test('turns a step-down that is under way into a stop', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stepDown('report', 5_000)
    rig.close()
    rig.workExited('report')
    const effects = rig.answer(rig.pending('closeSession'))
    expect(effects.slice(3, 6)).toEqual([
      'complete term report STEPPED_DOWN',
      'complete stepDown report 1',
      'complete stop report',
    ])
  })

  test('while a release is in flight is done with the session', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    expect(rig.close()).toEqual(['call closeSession s1', 'arm close 3000'])
    expect(rig.answer(rig.pending('release'))).toEqual([
      'complete term report STOPPED',
      'complete stop report',
    ])
    expect(rig.answer(rig.pending('closeSession'))).toContain('complete close 3000')
  })

  test('whose session expires while work is waited for is done', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.close()
    rig.until(3_000)
    const effects = rig.answer(rig.pending('keepAlive'), expired)
    expect(effects).toContain('complete stop report')
    expect(effects).not.toContain('call openSession')
    expect(effects.at(-1)).toBe('complete close 3000')
  })

  test('whose deadline passes while the session is being closed is done', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(9_000)
    rig.close()
    expect(rig.until(9_799).join()).not.toContain('complete close')
    const effects = rig.until(9_800)
    expect(effects).toContain('complete stop report')
    expect(effects.at(-1)).toBe('complete close 2200')
  })
})

describe('a forced close', () => {
  test('does not wait for work', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    expect(rig.close({ force: true })).toEqual([
      'revoked report STOPPED',
      'publish Revoked report 7 STOPPED',
      'call closeSession s1',
      'arm close 3000',
    ])
    expect(rig.answer(rig.pending('closeSession'))).toContain('complete stop report')
  })

  test('after a close that waits ends the waiting', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.close()
    rig.until(1_000)
    expect(rig.close({ force: true })).toEqual([
      'disarm election:report',
      'call closeSession s1',
      'arm close 4000',
    ])
  })

  test('does not wait for work of a stop that came before', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'exclusive')
    rig.stop('report')
    expect(rig.close({ force: true })).toEqual([
      'disarm election:report',
      'call closeSession s1',
      'arm close 3000',
    ])
  })

  test('is not undone by a close that would wait', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.close({ force: true })
    expect(rig.close()).toEqual([])
    expect(rig.close({ force: true })).toEqual([])
  })
})

describe('a close while the session is being opened', () => {
  test('waits for the answer, so that the session is not left behind', () => {
    const rig = new Rig()
    rig.start('report')
    expect(rig.close()).toEqual(['disarm election:report', 'complete stop report', 'arm close 3000'])
    rig.until(1_000)
    expect(rig.answer(rig.pending('openSession'), opened('s1'))).toEqual([
      'deadline 9800',
      'arm deadline 9800',
      'arm renew 3000',
      'publish SessionOpened s1 8800',
      'call closeSession s1',
      'arm close 3000',
    ])
    expect(rig.pending('closeSession').timeoutMs).toBe(2_000)
    expect(rig.answer(rig.pending('closeSession'))).toContain('complete close 2000')
  })

  test('is done at the end of its time when there is no answer', () => {
    const rig = new Rig()
    rig.boot()
    rig.until(2_000)
    rig.close()
    expect(rig.until(2_999)).toEqual([])
    expect(rig.until(3_000).at(-1)).toBe('complete close 2000')
  })

  test('is done when the opening fails', () => {
    const rig = new Rig()
    rig.boot()
    rig.close()
    expect(rig.fail(rig.pending('openSession')).at(-1)).toBe('complete close 3000')
  })

  test('is done at once between two tries', () => {
    const rig = new Rig()
    rig.boot()
    rig.fail(rig.pending('openSession'))
    expect(rig.close().at(-1)).toBe('complete close 3000')
  })

  test('with groups tells each that it is done', () => {
    const rig = new Rig()
    rig.join('billing')
    rig.fail(rig.pending('openSession'))
    expect(rig.close()).toContain('complete groupStop billing')
  })
})

describe('after the close', () => {
  test('nothing has an effect any more', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.join('billing')
    const calls = [rig.pending('acquire'), rig.pending('join')]
    rig.close()
    rig.answer(rig.pending('closeSession'))
    const [attempt, join] = calls
    if (attempt === undefined || join === undefined) throw new Error('no calls')
    expect(rig.answer(attempt, granted(7n))).toEqual([])
    expect(rig.answer(join, joined)).toEqual([])
    expect(rig.fire('renew')).toEqual([])
    expect(rig.released('report')).toEqual([])
    expect(rig.boot()).toEqual([])
    expect(rig.close({ force: true })).toEqual([])
  })

  test('no timer is left', () => {
    const rig = Rig.live({ ...TIMING, minBackoffMs: 50 })
    rig.start('report')
    rig.answer(rig.pending('acquire'), { kind: 'held' })
    rig.lead('audit', 3n, 'working')
    rig.stepDown('audit', 60_000)
    rig.start('cooling')
    rig.stepDown('cooling', 60_000)
    rig.member('billing')
    rig.join('joining')
    rig.fail(rig.pending('join', 'joining'))
    rig.close({ force: true })
    rig.answer(rig.pending('closeSession'))
    expect([...rig.timers]).toEqual([])
  })

  test('a group that was left and not settled is forgotten without another completion', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    rig.fail(rig.pending('leave'))
    rig.close()
    expect(rig.answer(rig.pending('closeSession')).join()).not.toContain('groupStop')
  })
})
