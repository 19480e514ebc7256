/** A live session that is a member of a group it does not run would leave partitions running nowhere: so every doubt is settled. */
import { describe, expect, test } from 'vitest'
import { joined, Rig } from './rig.js'

describe('a leave', () => {
  test('of a member drops the view at once, and is done when it was answered', () => {
    const rig = Rig.live()
    rig.member('billing')
    expect(rig.leave('billing')).toEqual([
      'disarm group:billing',
      'unwatch billing',
      'members billing none',
      'call leave billing',
    ])
    expect(rig.leave('billing')).toEqual([])
    expect(rig.answer(rig.pending('leave'))).toEqual(['complete groupStop billing', 'disarm group:billing'])
    expect(rig.state.groups.size).toBe(0)
    expect(rig.leave('billing')).toEqual([])
  })

  test('of a group that never asked to join is done at once', () => {
    const rig = new Rig()
    rig.join('billing')
    expect(rig.leave('billing')).toEqual(['disarm group:billing', 'complete groupStop billing'])
  })

  test('of a member is not undone by an answer to a look', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.until(3_000)
    const look = rig.pending('members')
    rig.leave('billing')
    expect(rig.answer(look, ['s1'])).toEqual([])
  })

  test.each([
    ['fails', (rig: Rig) => rig.fail(rig.pending('leave')), 1_500],
    ['is not answered in time', (rig: Rig) => rig.until(3_000), 4_500],
  ])('that %s is done for its caller, and repeated until it is answered', (_, lose, next) => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    const effects = lose(rig)
    expect(effects).toContain('complete groupStop billing')
    expect(effects).toContain(`arm group:billing ${next}`)
    expect(rig.until(next)).toContain('call leave billing')
    expect(rig.fire('group:billing')).toEqual([]) // one at a time
    expect(rig.answer(rig.pending('leave'))).toEqual(['disarm group:billing'])
    expect(rig.state.groups.size).toBe(0)
  })

  test('a repeated leave that fails is repeated once more, without another completion', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    rig.fail(rig.pending('leave'))
    rig.until(1_500)
    expect(rig.fail(rig.pending('leave'))).toEqual([
      'publish BackendCallFailed leave billing 0 false refused',
      'arm group:billing 3000',
    ])
  })

  test('that was answered after its timeout does not count for the one in flight', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    const first = rig.pending('leave')
    rig.until(4_500)
    expect(rig.answer(first)).toEqual([])
    expect(rig.answer(rig.pending('leave'))).toEqual(['disarm group:billing'])
  })
})

describe('a join that is in flight at the leave', () => {
  test('answered before the leave: it may have taken effect after it, so the leave is repeated', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.leave('billing')
    expect(rig.answer(rig.pending('join'), joined)).toEqual([])
    expect(rig.answer(rig.pending('leave'))).toEqual(['complete groupStop billing', 'call leave billing'])
    expect(rig.answer(rig.pending('leave'))).toEqual(['disarm group:billing'])
    expect(rig.state.groups.size).toBe(0)
  })

  test('answered after the leave: the leave is repeated at once', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.leave('billing')
    expect(rig.answer(rig.pending('leave'))).toEqual(['complete groupStop billing', 'arm group:billing 1500'])
    expect(rig.answer(rig.pending('join'), joined)).toEqual(['call leave billing'])
    expect(rig.answer(rig.pending('leave'))).toEqual(['disarm group:billing'])
    expect(rig.state.groups.size).toBe(0)
  })

  test('answered while the repeated leave is in flight: once more', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.leave('billing')
    rig.answer(rig.pending('leave'))
    rig.until(1_500)
    expect(rig.answer(rig.pending('join'), joined)).toEqual([])
    expect(rig.answer(rig.pending('leave'))).toEqual(['call leave billing'])
    expect(rig.answer(rig.pending('leave'))).toEqual(['disarm group:billing'])
    expect(rig.state.groups.size).toBe(0)
  })

  test('answered after its timeout, long after the leave: left again at once', () => {
    const rig = Rig.live()
    rig.join('billing')
    const join = rig.pending('join')
    rig.leave('billing')
    rig.answer(rig.pending('leave'))
    rig.until(3_000) // times out
    rig.answer(rig.pending('leave'))
    expect(rig.answer(join, joined)).toEqual(['call leave billing'])
    expect(rig.answer(rig.pending('leave'))).toEqual(['disarm group:billing'])
    expect(rig.state.groups.size).toBe(0)
  })

  test('never answered: the leave is repeated until the session ends', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.leave('billing')
    rig.answer(rig.pending('leave'))
    for (let time = 1_500; time <= 8_500; time += 1_500) {
      rig.until(time)
      rig.answer(rig.pending('leave'))
    }
    expect(rig.state.groups.size).toBe(1)
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    expect(rig.state.groups.size).toBe(0)
  })

  test('failed: it may take effect all the same, so the leave is repeated', () => {
    const rig = Rig.live()
    rig.join('billing')
    const join = rig.pending('join')
    rig.leave('billing')
    rig.fail(join)
    expect(rig.answer(rig.pending('leave'))).toEqual(['complete groupStop billing', 'arm group:billing 1500'])
    rig.until(1_000)
    expect(rig.fail(join)).toEqual(['publish BackendCallFailed join billing 1000 false refused'])
    expect(rig.until(1_500)).toEqual(['call leave billing'])
  })

  test('waits between two tries at the leave: the leave is sent, since an earlier join may have taken effect', () => {
    const rig = Rig.live()
    rig.join('billing')
    rig.fail(rig.pending('join'))
    expect(rig.leave('billing')).toEqual(['disarm group:billing', 'call leave billing'])
  })
})

describe('a group that is started again while its leave is unsettled', () => {
  test('is taken on: its join is the settlement', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    rig.fail(rig.pending('leave'))
    expect(rig.join('billing')).toEqual(['call join billing'])
    expect(rig.answer(rig.pending('join'), joined)).toEqual(['watch billing', 'call members billing'])
    expect(rig.answer(rig.pending('members'), ['s1'])).toContain('members billing s1 of s1')
    expect(rig.until(1_500)).toEqual([]) // no leave comes any more
  })

  test('joins again when the leave took effect after the join', () => {
    const rig = Rig.live()
    rig.member('billing')
    rig.leave('billing')
    rig.fail(rig.pending('leave'))
    rig.until(1_500)
    const leave = rig.pending('leave')
    rig.join('billing')
    rig.answer(rig.pending('join'), joined)
    expect(rig.answer(leave)).toEqual([])
    expect(rig.answer(rig.pending('members'), [])).toContain('call join billing')
  })

  test('keeps in mind which joins are unanswered, for the next leave', () => {
    const rig = Rig.live()
    rig.join('billing')
    const first = rig.pending('join')
    rig.leave('billing')
    rig.answer(rig.pending('leave'))
    rig.join('billing')
    rig.answer(rig.pending('join'), joined)
    rig.answer(rig.pending('members'), ['s1'])
    rig.leave('billing')
    rig.answer(rig.pending('leave'))
    expect(rig.state.groups.size).toBe(1) // the first join is still out there
    expect(rig.answer(first, joined)).toEqual(['call leave billing'])
    rig.answer(rig.pending('leave'))
    expect(rig.state.groups.size).toBe(0)
  })

  test('many unanswered joins are remembered up to a bound', () => {
    const rig = Rig.live(undefined, 1, 10_000_000)
    rig.join('billing')
    for (let tries = 0; tries < 200; tries += 1) {
      rig.fail(rig.pending('join'))
      rig.until(rig.timers.get('group:billing') ?? 0)
    }
    expect(rig.state.groups.get('billing')?.doubts.size).toBe(64)
    rig.answer(rig.pending('join'), joined)
    expect(rig.state.groups.get('billing')?.doubts.size).toBe(63)
  })
})
