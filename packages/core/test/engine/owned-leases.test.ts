import { describe, expect, test } from 'vitest'
import { granted, held, Rig, renewed } from './rig.js'

/** What an answer to a keep-alive does beyond moving the deadline. */
function beyondRenewal(effects: readonly string[]): string[] {
  return effects.filter((text) => !/^(arm )?(deadline|renew)/.test(text))
}

function listed(rig: Rig, owned: { readonly [name: string]: bigint }): string[] {
  return beyondRenewal(rig.answer(rig.pending('keepAlive'), renewed(owned)))
}

describe('a term that the answer to a keep-alive does not list', () => {
  test('is taken over', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.lead('audit', 3n)
    rig.until(3_000)
    expect(listed(rig, { audit: 3n })).toEqual([
      'revoked report TAKEN_OVER',
      'publish Revoked report 7 TAKEN_OVER',
      'complete term report TAKEN_OVER',
      'call acquire report',
    ])
  })

  test('is taken over too when the lease is listed with another token, which is given back', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'lock')
    rig.until(3_000)
    expect(listed(rig, { report: 8n })).toEqual([
      'revoked report TAKEN_OVER',
      'publish Revoked report 7 TAKEN_OVER',
      'complete term report TAKEN_OVER',
      'complete stop report',
      'call release report 8',
      'publish OrphanReleased report 8',
    ])
  })

  test('is left alone when it was adopted after the request was sent', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.until(2_900)
    const attempt = rig.pending('acquire')
    rig.until(2_999)
    rig.fire('election:report')
    rig.until(3_000) // both time out or are sent at 3,000; the keep-alive is in flight from now on
    rig.until(4_500)
    expect(rig.pending('acquire')).not.toBe(attempt)
    rig.answer(rig.pending('acquire'), granted(7n))
    expect(listed(rig, {})).toEqual([])
  })

  test('is left alone when it was adopted in the same moment, but after the request', () => {
    const rig = Rig.live()
    rig.until(3_000)
    rig.lead('report', 7n)
    expect(listed(rig, {})).toEqual([])
  })

  test('is taken over when it was adopted in the same moment, but before the request', () => {
    const rig = Rig.live()
    rig.freezeUntil(3_000)
    rig.lead('report', 7n)
    rig.fire('renew')
    expect(listed(rig, {})).toContain('revoked report TAKEN_OVER')
  })

  test('is left alone when the list is older than one that was heard already', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    const first = rig.pending('keepAlive')
    rig.until(7_900)
    rig.answer(rig.pending('keepAlive'), renewed({ report: 7n }))
    expect(rig.answer(first, renewed({}))).toEqual([])
  })

  test('ends its hand-over: there is nothing to keep for the work', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stop('report')
    rig.until(3_000)
    expect(listed(rig, {})).toEqual([
      'disarm election:report',
      'complete term report STOPPED',
      'complete stop report',
    ])
  })

  test('ends its release when that has taken effect before it is answered', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(2_000)
    rig.stop('report')
    const release = rig.pending('release')
    rig.until(3_000)
    expect(listed(rig, {})).toEqual(['complete term report STOPPED', 'complete stop report'])
    expect(rig.answer(release)).toEqual([])
  })
})

describe('a lease that the answer lists and nobody here holds', () => {
  test('is given back', () => {
    const rig = Rig.live()
    rig.until(3_000)
    expect(listed(rig, { report: 7n })).toEqual(['call release report 7', 'publish OrphanReleased report 7'])
  })

  test('is given back when a candidate waits for its next attempt, which follows at once', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.fail(rig.pending('acquire')) // took effect all the same
    rig.until(1_500)
    rig.fail(rig.pending('acquire'))
    rig.until(2_000)
    rig.freezeUntil(3_000)
    rig.fire('renew')
    expect(listed(rig, { report: 7n })).toEqual(['call release report 7', 'publish OrphanReleased report 7'])
  })

  test('is left alone while an attempt is in flight, which may just have won it', () => {
    const rig = Rig.live()
    rig.until(3_000)
    rig.start('report')
    expect(listed(rig, { report: 7n })).toEqual([])
    expect(rig.answer(rig.pending('acquire'), granted(7n))).toContain('elected report 7')
  })

  test('is left alone while an attempt is in flight that nobody waits for any more: its answer settles it', () => {
    const rig = Rig.live()
    rig.until(3_000)
    rig.start('report')
    const attempt = rig.pending('acquire')
    rig.stop('report')
    expect(listed(rig, { report: 7n })).toEqual([])
    expect(rig.answer(attempt, granted(7n))).toContain('call release report 7')
  })

  test('is left alone while its release is in flight', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(2_000)
    rig.stop('report')
    rig.until(3_000)
    expect(listed(rig, { report: 7n })).toEqual([])
  })

  test('is left alone when its release was answered after the list was asked for', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    rig.stop('report')
    rig.answer(rig.pending('release'))
    expect(listed(rig, { report: 7n })).toEqual([])
  })

  test('is given back when its release was answered before, and had no effect', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    rig.answer(rig.pending('release'))
    rig.until(3_000)
    expect(listed(rig, { report: 7n })).toEqual(['call release report 7', 'publish OrphanReleased report 7'])
  })

  test('is given back again when its release failed: the list is the retry', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.until(3_000)
    rig.stop('report')
    rig.fail(rig.pending('release'))
    expect(listed(rig, { report: 7n })).toEqual(['call release report 7', 'publish OrphanReleased report 7'])
    rig.answer(rig.pending('release'))
    expect(rig.state.releases.size).toBe(0)
  })

  test('is left alone when its term was adopted after the list was asked for', () => {
    const rig = Rig.live()
    rig.until(3_000)
    rig.lead('report', 8n)
    expect(listed(rig, { report: 7n })).toEqual([])
  })

  test('is kept for the work of a hand-over', () => {
    const rig = Rig.live()
    rig.lead('report', 7n, 'working')
    rig.stop('report')
    rig.until(3_000)
    expect(listed(rig, { report: 7n })).toEqual([])
  })

  test('is given back when it belongs to a term that was lost, before the name competes on', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), held)
    rig.freezeUntil(3_000)
    rig.fire('renew')
    expect(listed(rig, { report: 7n })).toEqual(['call release report 7', 'publish OrphanReleased report 7'])
    expect(rig.fire('election:report')).toEqual(['disarm election:report'])
    expect(rig.answer(rig.pending('release'))).toEqual(['call acquire report'])
  })
})
