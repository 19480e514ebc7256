import { describe, expect, test } from 'vitest'
import { expired, joined, opened, Rig, renewed } from './rig.js'

describe('a group', () => {
  test('is joined, then watched and looked at', () => {
    const rig = Rig.live()
    expect(rig.join('billing')).toEqual(['call join billing'])
    expect(rig.answer(rig.pending('join'), joined)).toEqual(['watch billing', 'call members billing'])
    expect(rig.answer(rig.pending('members'), ['s1', 's2'])).toEqual([
      'members billing s1 of s1,s2',
      'arm group:billing 3000',
    ])
  })

  test('is joined when the session opens', () => {
    const rig = new Rig()
    expect(rig.join('billing')).toEqual(['call openSession'])
    expect(rig.answer(rig.pending('openSession'), opened('s1'))).toContain('call join billing')
  })

  test('is looked at again each renewal period', () => {
    const rig = Rig.live()
    rig.member('billing')
    expect(rig.until(2_999)).toEqual([])
    expect(rig.until(3_000)).toContain('call members billing')
    rig.until(3_400)
    expect(rig.answer(rig.pending('members'), ['s1'])).toContain('arm group:billing 6400')
  })

  test('is looked at more often when the session has to be renewed more often', () => {
    const rig = Rig.live(undefined, 1, 4_000)
    rig.member('billing')
    expect(rig.timers.get('group:billing')).toBe(3_860 / 3)
  })

  test('is looked at after half that time when a look failed, and keeps its view', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.until(3_000)
    expect(rig.fail(rig.pending('members'))).toEqual([
      'publish BackendCallFailed members billing 0 false refused',
      'arm group:billing 4500',
    ])
    expect(rig.until(4_500)).toEqual(['call members billing'])
  })

  test('is looked at again no sooner than the smallest backoff, when the periods are short', () => {
    const rig = Rig.live(undefined, 1, 300)
    rig.join('billing')
    rig.answer(rig.pending('join'), joined)
    expect(rig.fail(rig.pending('members'))).toContain('arm group:billing 100')
  })

  test('is looked at at once on a hint', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.until(100)
    expect(rig.hint({ kind: 'members', group: 'billing' })).toEqual(['call members billing'])
  })

  test('is looked at right after a look during which a hint came', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.answer(rig.pending('join'), joined)
    expect(rig.hint({ kind: 'members', group: 'billing' })).toEqual([])
    expect(rig.hint({ kind: 'members', group: 'billing' })).toEqual([])
    expect(rig.answer(rig.pending('members'), ['s1'])).toEqual([
      'members billing s1 of s1',
      'call members billing',
    ])
    expect(rig.answer(rig.pending('members'), ['s1'])).toContain('arm group:billing 3000')
  })

  test('hints for a group that is not started, or not joined yet, mean nothing', () => {
    const rig = Rig.live()
    expect(rig.hint({ kind: 'members', group: 'billing' })).toEqual([])
    rig.join('billing')
    expect(rig.hint({ kind: 'members', group: 'billing' })).toEqual([])
  })

  test('a timer that comes early, or while a look is in flight, does nothing', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.until(2_000)
    expect(rig.fire('group:billing')).toEqual([])
    rig.hint({ kind: 'members', group: 'billing' })
    rig.until(3_000)
    expect(rig.fire('group:billing')).toEqual([])
    expect(rig.fire('group:unknown')).toEqual([])
  })

  test('an answer to an earlier look means nothing', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.answer(rig.pending('join'), joined)
    const first = rig.pending('members')
    rig.until(3_000)
    rig.until(4_500)
    expect(rig.pending('members')).not.toBe(first)
    expect(rig.answer(first, ['s1'])).toEqual([])
  })

  test('a start of a group that runs already changes nothing', () => {
    const rig = Rig.live()
    rig.member('billing')
    expect(rig.send({ type: 'join', group: 'billing', start: 99 })).toEqual([])
    expect(rig.leave('billing')).toContain('call leave billing')
  })

  test('a leave of an earlier start does not touch a later one', () => {
    const rig = Rig.live()
    rig.member('billing')
    expect(rig.send({ type: 'leave', group: 'billing', start: 99 })).toEqual([])
    expect(rig.send({ type: 'leave', group: 'unknown', start: 1 })).toEqual([])
  })

  test('that lists others only is joined again, without a view until then', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.until(3_000)
    expect(rig.answer(rig.pending('members'), ['s2'])).toEqual([
      'unwatch billing',
      'members billing none',
      'call join billing',
    ])
    rig.answer(rig.pending('join'), joined)
    expect(rig.answer(rig.pending('members'), ['s1', 's2'])).toContain('members billing s1 of s1,s2')
  })
})

describe('a join without an answer', () => {
  test('is repeated after half a renewal period, until it is answered', () => {
    const rig = Rig.live()
    rig.join('billing')
    expect(rig.fail(rig.pending('join'))).toEqual([
      'publish BackendCallFailed join billing 0 false refused',
      'arm group:billing 1500',
    ])
    expect(rig.until(1_500)).toEqual(['call join billing'])
    expect(rig.fire('group:billing')).toEqual([]) // one at a time
    expect(rig.answer(rig.pending('join'), joined)).toContain('call members billing')
  })

  test('that is answered after its timeout makes a member as well', () => {
    const rig = Rig.live()
    rig.join('billing')
    const first = rig.pending('join')
    rig.until(3_000)
    expect(rig.answer(first, joined)).toEqual(['watch billing', 'call members billing'])
    expect(rig.leave('billing')).toContain('call leave billing')
  })

  test('that is answered while another one is in flight waits for that', () => {
    const rig = Rig.live()
    rig.join('billing')
    const first = rig.pending('join')
    rig.until(4_500)
    expect(rig.answer(first, joined)).toEqual([])
    expect(rig.answer(rig.pending('join'), joined)).toEqual(['watch billing', 'call members billing'])
  })

  test('and that is said to have failed after its timeout is repeated at its time', () => {
    const rig = Rig.live()
    rig.join('billing')
    const first = rig.pending('join')
    rig.until(3_000)
    expect(rig.fail(first)).toEqual(['publish BackendCallFailed join billing 3000 false refused'])
    expect(rig.until(4_500)).toEqual(['call join billing'])
  })

  test('answered twice makes one member', () => {
    const rig = Rig.live()
    rig.join('billing')
    const call = rig.pending('join')
    rig.answer(call, joined)
    expect(rig.answer(call, joined)).toEqual([])
  })
})

describe('when the session ends', () => {
  test('a member has no view, and joins again in the next', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.freezeUntil(9_800)
    const effects = rig.fire('deadline')
    expect(effects.slice(3, 6)).toEqual(['disarm group:billing', 'unwatch billing', 'members billing none'])
    expect(rig.answer(rig.pending('openSession'), opened('s2'))).toContain('call join billing')
  })

  test('a look in flight is forgotten', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.until(3_000)
    const look = rig.pending('members')
    rig.answer(rig.pending('keepAlive'), expired)
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.answer(look, ['s1'])).toEqual([])
  })

  test('a join in flight is forgotten, with its doubt', () => {
    const rig = Rig.live()
    rig.join('billing')
    const first = rig.pending('join')
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.answer(first, joined)).toEqual([])
    rig.answer(rig.pending('join'), joined)
    rig.leave('billing')
    rig.answer(rig.pending('leave'))
    expect(rig.state.groups.size).toBe(0)
  })

  test('a leave in flight is done: the membership is gone with the session', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    rig.freezeUntil(9_800)
    expect(rig.fire('deadline')).toContain('complete groupStop billing')
    expect(rig.state.groups.size).toBe(0)
  })

  test('nothing is left to settle for a group that nobody runs', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    rig.fail(rig.pending('leave'))
    rig.freezeUntil(9_800)
    expect(rig.fire('deadline').join()).not.toContain('groupStop')
    expect(rig.answer(rig.pending('openSession'), opened('s2')).join()).not.toContain('billing')
  })

  test('the looks of all groups go on in the next session, at its pace', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.renew()
    rig.until(3_000)
    rig.answer(rig.pending('members'), ['s1'])
    expect(rig.until(6_000)).toContain('call members billing')
    expect(rig.answer(rig.pending('keepAlive'), renewed())).toContain('arm renew 9000')
  })
})
