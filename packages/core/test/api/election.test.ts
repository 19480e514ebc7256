import { describe, expect } from 'vitest'
import { recorder } from './recorder.js'
import { LEASE, RENEW, test, VALID } from './world.js'

describe('leading', () => {
  test('the only candidate leads at once, with a valid term that the handle shows', async ({ world }) => {
    const election = world.client().election('report')
    const { lines, listener } = recorder(world)

    expect(election.term).toBeUndefined()
    election.start(listener)
    await world.time.settle()

    expect(lines).toEqual(['0 elected 1'])
    expect(election.term).toMatchObject({ name: 'report', token: 1n, isValid: true })
    expect(election.name).toBe('report')
  })

  test('two handles of one name are the same election', async ({ world }) => {
    const simba = world.client()
    simba.election('report').start()
    await world.time.settle()

    expect(simba.election('report').term).toBe(simba.election('report').term)
    await world.soon(simba.election('report').stop())
    expect(simba.election('report').term).toBeUndefined()
  })

  test('of several nodes one leads; the others follow, and one takes over at once when it stops', async ({
    world,
  }) => {
    const elections = ['a', 'b', 'c'].map((id) => world.client(id).election('report'))
    for (const election of elections) election.start()
    await world.time.advance(LEASE)
    const [leader, ...others] = elections.filter(({ term }) => term !== undefined)
    expect(others).toEqual([])

    await world.soon(leader?.stop() ?? Promise.reject())
    await world.time.settle()

    const next = elections.filter(({ term }) => term !== undefined)
    expect(next).toHaveLength(1)
    expect(next[0]).not.toBe(leader)
    expect(next[0]?.term?.token).toBe(2n)
  })

  test('a leader that is cut off has ended its term before another one begins', async ({ world }) => {
    const a = world.client('a').election('report')
    const b = world.client('b').election('report')
    const lines: string[] = []
    a.start(recorder(world, lines).listener)
    await world.time.settle()
    b.start(recorder(world, lines).listener)
    const term = a.term
    world.fault({ client: 'a', kind: 'lose-request' })

    await world.time.advance(VALID - 1)
    expect(term?.isValid).toBe(true)
    await world.time.advance(1)
    expect(term?.isValid).toBe(false)
    expect(lines).toEqual(['0 elected 1', `${VALID} revoked 1 DEADLINE_PASSED valid=false`])
    expect(b.term).toBeUndefined()

    await world.time.advance(LEASE)
    expect(b.term?.token).toBe(2n)
    world.heal()
  })

  test('a node that lost competes again by itself, and leads when the other stops', async ({ world }) => {
    const a = world.client('a').election('report')
    const b = world.client('b').election('report')
    a.start()
    await world.time.settle()
    b.start()
    world.fault({ client: 'a', kind: 'fail-before' })
    await world.time.advance(2 * LEASE)
    expect(b.term?.isValid).toBe(true)
    world.heal()
    await world.time.advance(RENEW)

    await world.soon(b.stop())
    await world.time.settle()

    expect(a.term).toMatchObject({ token: 3n, isValid: true })
  })

  test('the holder is told to whoever asks, candidate or not', async ({ world }) => {
    const a = world.client('a', { metadata: { host: 'alpha' } })
    const b = world.client('b')
    expect(await world.soon(b.election('report').holder())).toBeUndefined()
    a.election('report').start()
    await world.time.settle()

    const session = a.snapshot().session.id
    expect(await world.soon(b.election('report').holder())).toEqual({
      session,
      token: 1n,
      metadata: { host: 'alpha' },
    })
    expect(b.snapshot().elections).toEqual([])
  })
})
