import { describe, expect, test } from 'vitest'
import type { Effect, Request, RequestOf } from '../../src/engine/effect.js'
import { step } from '../../src/engine/step.js'
import { granted, opened, Rig, renewed } from './rig.js'

/** Locks a name, unlocks it, and hears that the release was answered. */
function lockOnce(rig: Rig, name: string, token: bigint): string[] {
  const effects = rig.lead(name, token)
  rig.stop(name)
  rig.answer(rig.pending('release', name))
  return effects
}

function requestOf<Op extends Request['op']>(effects: readonly Effect[], op: Op): RequestOf<Op> {
  for (const effect of effects) {
    if (effect.type === 'call' && isOf(effect.request, op)) return effect.request
  }
  throw new Error(`There is no ${op}.`)
}

function isOf<Op extends Request['op']>(request: Request, op: Op): request is RequestOf<Op> {
  return request.op === op
}

describe('a token that went back', () => {
  test('is reported, and its term begins all the same', () => {
    const rig = Rig.live()
    lockOnce(rig, 'report', 7n)
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.lead('report', 3n)).toEqual([
      'publish TokenWentBack report 3 7',
      'elected report 3',
      'publish Elected report 3',
    ])
    rig.stop('report')
    rig.answer(rig.pending('release'))
    rig.freezeUntil(19_600)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s3'))
    expect(rig.lead('report', 5n)).toContain('publish TokenWentBack report 5 7')
  })

  test('is reported too when it is the same again: two terms must not share one', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.answer(rig.pending('acquire'), granted(7n))).toContain('publish TokenWentBack report 7 7')
  })

  test('is no news while tokens rise', () => {
    const rig = Rig.live()
    lockOnce(rig, 'report', 7n)
    expect(lockOnce(rig, 'report', 8n).join()).not.toContain('TokenWentBack')
  })

  test('is noticed beyond what a double can tell apart', () => {
    const rig = Rig.live()
    lockOnce(rig, 'report', 2n ** 63n - 1n)
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    rig.answer(rig.pending('openSession'), opened('s2'))
    expect(rig.lead('report', 2n ** 63n - 2n)).toContain(
      'publish TokenWentBack report 9223372036854775806 9223372036854775807',
    )
  })
})

describe('L11: memory is bounded by what is started', () => {
  test('a million names, locked one after another, leave 10,000 behind', { timeout: 60_000 }, () => {
    const { state } = Rig.live(undefined, 1, 1e12)
    for (let start = 1; start <= 1_000_000; start += 1) {
      const name = `order.${start}`
      const acquire = requestOf(step(state, { type: 'start', name, start, kind: 'lock' }, 1), 'acquire')
      const won = { ok: true, value: { kind: 'granted', token: 1n } } as const
      step(state, { type: 'reply', op: 'acquire', request: acquire, sentAt: 1, outcome: won }, 1)
      step(state, { type: 'workExited', name, start, term: state.nextId - 1 }, 1)
      const release = requestOf(step(state, { type: 'stop', name, start }, 1), 'release')
      const done = { ok: true, value: undefined } as const
      step(state, { type: 'reply', op: 'release', request: release, sentAt: 1, outcome: done }, 1)
    }
    expect(state.retiredTokens.size).toBeLessThan(11_000)
    for (const map of [state.elections, state.tokens, state.givenUp, state.releases]) expect(map.size).toBe(0)
  })

  test('the 10,000 names that were stopped last are among those remembered', () => {
    const rig = Rig.live(undefined, 1, 1e12)
    for (let n = 0; n < 10_999; n += 1) lockOnce(rig, `order.${n}`, 5n)
    lockOnce(rig, 'order.0', 6n) // used again: the last to go
    lockOnce(rig, 'another', 1n)
    const remembered = [...rig.state.retiredTokens.keys()]
    expect(remembered).toHaveLength(10_000)
    expect(remembered[0]).toBe('order.1001')
    expect(remembered.slice(-3)).toEqual(['order.10998', 'order.0', 'another'])
  })

  test('orphans of names that were never started count among them', () => {
    const rig = Rig.live(undefined, 1, 1e12)
    const owned: { [name: string]: bigint } = {}
    for (let n = 0; n < 30_500; n += 1) owned[`orphan.${n}`] = 1n
    rig.renew(owned)
    expect(rig.state.retiredTokens.size).toBe(10_500)
    for (const call of rig.calls) if (call.request.op === 'release') rig.answer(call)
    expect(rig.state.releases.size).toBe(0)
  })

  test('a name that was never granted leaves nothing behind', () => {
    const rig = Rig.live()
    rig.start('report')
    rig.answer(rig.pending('acquire'), { kind: 'held' })
    rig.stop('report')
    expect(rig.state.retiredTokens.size).toBe(0)
  })

  test('a release in flight refuses the token that it gives back, even if its name has been forgotten', () => {
    const rig = Rig.live(undefined, 1, 1e12)
    rig.lead('report', 7n)
    rig.stop('report')
    const release = rig.pending('release')
    for (let n = 0; n < 11_000; n += 1) lockOnce(rig, `order.${n}`, 1n)
    expect(rig.state.retiredTokens.has('report')).toBe(false)
    expect(rig.start('report')).toEqual([])
    expect(rig.answer(release)).toContain('complete stop report')
  })
})

describe('several releases of one name in flight', () => {
  test('keep it from competing until all were answered', () => {
    const rig = Rig.live()
    rig.start('report')
    const first = rig.pending('acquire')
    rig.until(4_500)
    const second = rig.pending('acquire')
    rig.answer(first, granted(7n))
    rig.answer(second, granted(7n))
    rig.released('report')
    expect(rig.answer(rig.pending('release'))).toEqual([])
    expect(rig.state.elections.get('report')?.phase).toMatchObject({ phase: 'candidate', attempt: undefined })
    expect(rig.answer(rig.pending('release'))).toContain('call acquire report')
  })

  test('the greatest of their tokens is the one that a grant must exceed', () => {
    const rig = Rig.live()
    rig.until(3_000)
    rig.answer(rig.pending('keepAlive'), renewed({ report: 9n }))
    rig.start('report')
    rig.answer(rig.pending('release'))
    expect(rig.answer(rig.pending('acquire'), granted(8n))).toContain('call release report 8')
    rig.released('report')
    rig.answer(rig.pending('release'))
    expect(rig.answer(rig.pending('acquire'), granted(9n))).toContain('call release report 9')
    rig.released('report')
    rig.answer(rig.pending('release'))
    expect(rig.answer(rig.pending('acquire'), granted(10n))).toContain('elected report 10')
  })
})

describe('a release without an answer', () => {
  test('may take effect later, so its token is refused until a release of it was answered', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stepDown('report', 0)
    const lost = rig.pending('release')
    rig.until(3_000) // timed out
    expect(rig.answer(rig.pending('acquire'), granted(7n))).toContain('call release report 7')
    rig.released('report')
    expect(rig.answer(lost)).toEqual([]) // one of two is answered
    expect(rig.answer(rig.pending('release'))).toEqual(['call acquire report'])
    expect(rig.answer(rig.pending('acquire'), granted(8n))).toContain('elected report 8')
  })

  test('is forgotten once an answered keep-alive shows that the lease is gone', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    rig.until(3_000) // timed out, though it took effect
    expect(rig.state.releases.size).toBe(1)
    rig.until(4_000)
    rig.renew()
    expect(rig.state.releases.size).toBe(0)
  })

  test('is remembered while a keep-alive still shows the lease, or was asked before', () => {
    const rig = Rig.live()
    rig.until(3_000)
    rig.lead('report', 7n)
    rig.stop('report')
    rig.fail(rig.pending('release'))
    rig.answer(rig.pending('keepAlive'), renewed())
    expect(rig.state.releases.size).toBe(1)
    rig.renew({ report: 7n })
    expect(rig.state.releases.get('report')).toMatchObject({ token: 7n })
    rig.fail(rig.pending('release'))
    expect(rig.state.releases.get('report')).toMatchObject({ token: 7n, requests: [] })
    rig.renew({ report: 6n })
    rig.fail(rig.pending('release'))
    expect(rig.state.releases.get('report')).toMatchObject({ token: 7n })
  })

  test('is forgotten with its session', () => {
    const rig = Rig.live()
    rig.lead('report', 7n)
    rig.stop('report')
    rig.fail(rig.pending('release'))
    expect(rig.state.releases.size).toBe(1)
    rig.freezeUntil(9_800)
    rig.fire('deadline')
    expect(rig.state.releases.size).toBe(0)
  })
})
