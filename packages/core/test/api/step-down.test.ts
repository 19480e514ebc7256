/** stepDown(cooldown): the name stays started, but out of the competition until the cooldown is over, which counts from the call. */
import { ConfigError, type Election, type Term } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

async function leader(world: World): Promise<Election> {
  const election = world.client().election('report')
  election.start()
  await world.time.settle()
  expect(election.term?.isValid).toBe(true)
  return election
}

/** When the node led next, in virtual time. */
async function ledAgainAt(world: World, election: Election, within = 10 * LEASE): Promise<number> {
  const from = world.time.now()
  while (election.term === undefined && world.time.now() < from + within) await world.time.advance(1)
  return world.time.now()
}

describe('a leader that steps down', () => {
  test('ends its term, and lets others lead', async ({ world }) => {
    const a = await leader(world)
    const b = world.client('b').election('report')
    b.start()
    await world.time.advance(100)
    await world.soon(a.stepDown('10s'))
    await world.time.settle()

    expect(a.term).toBeUndefined()
    expect(b.term?.token).toBe(2n)
  })

  test('keeps out for a lease by default, though nobody else wants to lead', async ({ world }) => {
    const election = await leader(world)
    await world.soon(election.stepDown())
    expect(await ledAgainAt(world, election)).toBe(LEASE)
  })

  test.for([
    ['2s', 2_000],
    [2_500, 2_500],
    [0, 0],
    ['1m', 60_000],
  ] as const)('keeps out for %s, and then competes at once', async ([cooldown, ms], { world }) => {
    const election = await leader(world)
    await world.soon(election.stepDown(cooldown))
    expect(await ledAgainAt(world, election)).toBe(ms)
  })

  test('counts the cooldown from the call, not from the end of the hand-over', async ({ world }) => {
    const simba = world.client()
    simba.election('report').runWhileLeader(async (term) => {
      await term.revoked
      await world.time.sleep(3_000)
    })
    await world.time.advance(1_000)
    const settled = world.track(simba.election('report').stepDown('5s'))
    await world.time.advance(3_000)

    expect(settled).toMatchObject({ status: 'fulfilled', at: 4_000 })
    expect(await ledAgainAt(world, simba.election('report'))).toBe(6_000)
  })

  test('competes as soon as its work has exited, if that takes longer than the cooldown', async ({
    world,
  }) => {
    const simba = world.client()
    simba.election('report').runWhileLeader(async (term) => {
      await term.revoked
      await world.time.sleep(3_000)
    })
    await world.time.advance(1_000)
    void simba.election('report').stepDown('1s')
    expect(await ledAgainAt(world, simba.election('report'))).toBe(4_000)
  })

  test('twice keeps out for the longer of the two, and both calls settle', async ({ world }) => {
    const election = await leader(world)
    await world.soon(Promise.all([election.stepDown('8s'), election.stepDown('2s')]))
    await world.time.advance(1_000)
    await world.soon(election.stepDown('1s'))
    expect(await ledAgainAt(world, election)).toBe(8_000)

    await world.soon(election.stepDown('1s'))
    await world.soon(election.stepDown('3s'))
    expect(await ledAgainAt(world, election)).toBe(11_000)
  })

  test('while it hands over adds to the cooldown, and waits for the same hand-over', async ({ world }) => {
    const simba = world.client()
    const election = simba.election('report')
    election.runWhileLeader(async (term) => {
      await term.revoked
      await world.time.sleep(3_000)
    })
    await world.time.settle()
    const first = world.track(election.stepDown('4s'))
    await world.time.advance(1_000)
    const second = world.track(election.stepDown('10s'))
    await world.time.advance(2_000)

    expect([first, second]).toMatchObject([{ at: 3_000 }, { at: 3_000 }])
    expect(await ledAgainAt(world, election)).toBe(11_000)
  })

  test('settles after its onRevoked', async ({ world }) => {
    const election = world.client().election('report')
    election.start({ onRevoked: () => world.time.sleep(400) })
    await world.time.settle()
    const settled = world.track(election.stepDown())
    await world.time.advance(1_000)
    expect(settled.at).toBe(400)
  })

  test('settles when its session is lost meanwhile', async ({ world }) => {
    const election = world.client().election('report')
    election.runWhileLeader(() => new Promise(() => {}))
    await world.time.settle()
    const settled = world.track(election.stepDown('1s'))
    world.fault({ client: 'a', kind: 'fail-before' })
    await world.time.advance(VALID)
    expect(settled).toMatchObject({ status: 'fulfilled', at: VALID })
    world.heal()
    expect(await ledAgainAt(world, election)).toBeLessThanOrEqual(VALID + RENEW + LEASE)
  })
})

describe('a stop', () => {
  test('during the cooldown ends the start at once', async ({ world }) => {
    const election = await leader(world)
    await world.soon(election.stepDown('1h'))
    await world.soon(election.stop())
    election.start()
    await world.time.settle()
    expect(election.term?.token).toBe(2n)
  })

  test('during the hand-over of a step-down makes both settle at its end', async ({ world }) => {
    const election = world.client().election('report')
    election.runWhileLeader(async (term) => {
      await term.revoked
      await world.time.sleep(500)
    })
    await world.time.settle()
    const steppedDown = world.track(election.stepDown(0))
    const stopped = world.track(election.stop())
    await world.time.advance(1_000)

    expect([steppedDown, stopped]).toMatchObject([{ at: 500 }, { at: 500 }])
    expect(election.term).toBeUndefined()
  })

  test('that has begun makes a later step-down settle with it', async ({ world }) => {
    const election = world.client().election('report')
    election.start({ onRevoked: () => world.time.sleep(500) })
    await world.time.settle()
    const stopped = world.track(election.stop())
    await world.time.advance(100)
    const steppedDown = world.track(election.stepDown('1s'))
    await world.time.advance(1_000)

    expect([stopped, steppedDown]).toMatchObject([{ at: 500 }, { at: 500 }])
  })
})

describe('a mere candidate', () => {
  test('that steps down cools down too', async ({ world }) => {
    const a = await leader(world)
    const b = world.client('b').election('report')
    b.start()
    await world.time.advance(100)
    await world.soon(b.stepDown('20s'))
    await world.soon(a.stop())
    const attempts = world.callsOf('acquire', 'b').length

    expect(world.get('b').snapshot().elections).toMatchObject([{ state: 'cooldown' }])
    await world.time.advance(19_000)
    expect(world.callsOf('acquire', 'b')).toHaveLength(attempts)
    expect(await ledAgainAt(world, b)).toBe(20_100)
  })

  test('settles at once, and hears no callback', async ({ world }) => {
    await leader(world)
    const heard: Term[] = []
    const b = world.client('b').election('report')
    b.start({ onElected: (term) => void heard.push(term), onRevoked: (term) => void heard.push(term) })
    await world.time.advance(100)
    await world.soon(b.stepDown())
    expect(heard).toEqual([])
  })

  test('that steps down with its first attempt in flight gives back what that wins', async ({ world }) => {
    world.fault({ on: 'acquire', kind: 'delay-reply', ms: 1_000, times: 1 })
    const election = world.client().election('report')
    election.start()
    await world.time.advance(500)
    await world.soon(election.stepDown('5s'))
    await world.time.advance(1_000)

    expect(election.term).toBeUndefined()
    expect(world.holderOf('report')).toBeUndefined()
    expect(await ledAgainAt(world, election)).toBe(5_500)
  })

  test('without a session yet cools down from the call', async ({ world }) => {
    world.fault({ on: 'openSession', kind: 'delay-reply', ms: 2_000, times: 1 })
    const election = world.client().election('report')
    election.start()
    await world.soon(election.stepDown('4s'))
    expect(await ledAgainAt(world, election)).toBe(4_000)
  })
})

test('stepDown of what is not started does nothing', async ({ world }) => {
  await world.soon(world.client().election('report').stepDown())
})

test.for([-1, Number.NaN, 'a while', '5 s', null])(
  'stepDown(%s) rejects, and the term goes on',
  async (cooldown, { world }) => {
    const election = await leader(world)
    // @ts-expect-error no duration
    const refused = await world.failure(election.stepDown(cooldown))
    expect(refused).toBeInstanceOf(ConfigError)
    expect(refused).toHaveProperty('message', expect.stringContaining('stepDown: cooldown is '))
    expect(election.term?.isValid).toBe(true)
  },
)
