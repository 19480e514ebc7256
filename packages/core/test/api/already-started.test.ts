/** One name is one thing on one client, until its stop has settled: whatever it was started as, and by whichever handle. */
import { AlreadyStartedError, Schedule, type Simba } from '@simba/core'
import { describe, expect } from 'vitest'
import { RENEW, test, type World } from './world.js'

/** The ways to use the name `g.1`, each with the way to end the use. All are asynchronous, so that both kinds of refusal look the same. */
const USES: { readonly [use: string]: (simba: Simba, world: World) => Promise<() => Promise<unknown>> } = {
  async election(simba) {
    const election = simba.election('g.1')
    election.start()
    return () => election.stop()
  },
  async 'leader task'(simba) {
    const task = simba.election('g.1').runWhileLeader((term) => term.revoked)
    return () => task.stop()
  },
  async schedule(simba) {
    const task = simba.election('g.1').schedule(Schedule.fixedRate('1s'), () => {})
    return () => task.stop()
  },
  async iteration(simba) {
    const terms = simba.election('g.1').terms()
    await terms.next()
    return async () => terms.return?.()
  },
  async lock(simba) {
    const held = await simba.lock('g.1').acquire()
    return () => held.release()
  },
  async group(simba) {
    const task = simba.group('g', { partitions: 2 }).runWhileLeader((term) => term.revoked)
    return () => task.stop()
  },
}

const pairs = Object.keys(USES).flatMap((first) =>
  Object.keys(USES).map((second) => [first, second] as const),
)

describe('a name that is in use', () => {
  test.for(pairs)(
    'as %s cannot be started as %s, and can once that has ended',
    async ([first, second], { world }) => {
      // Two acquires of one lock queue up instead.
      if (first === 'lock' && second === 'lock') return
      const simba = world.client()
      const end = await world.soon(USES[first]?.(simba, world) ?? Promise.reject())
      await world.time.settle()

      const refused = await world.failure(USES[second]?.(simba, world) ?? Promise.resolve())
      expect(refused).toBeInstanceOf(AlreadyStartedError)
      expect(refused).toMatchObject({ code: 'SIMBA_ALREADY_STARTED' })

      await world.soon(end())
      const endSecond = await world.soon(USES[second]?.(simba, world) ?? Promise.reject())
      await world.soon(endSecond())
    },
  )

  test.for(Object.keys(USES))('as %s is in use until its stop has settled', async (use, { world }) => {
    const simba = world.client()
    const end = await world.soon(USES[use]?.(simba, world) ?? Promise.reject())
    await world.time.settle()
    world.fault({ on: 'release', kind: 'delay-reply', ms: 1_000 })
    const ended = world.track(end())
    await world.time.advance(999)
    expect(ended.status).toBe('pending')
    if (use === 'lock') {
      expect(() => simba.election('g.1').start()).toThrow(AlreadyStartedError)
    } else {
      expect(await world.failure(simba.lock('g.1').acquire())).toBeInstanceOf(AlreadyStartedError)
    }

    await world.time.advance(1)
    expect(ended.status).toBe('fulfilled')
    simba.election('g.1').start()
    expect(simba.snapshot().elections).toMatchObject([{ name: 'g.1', use: 'election' }])
  })

  test('says as what, and what to do', ({ world }) => {
    const simba = world.client()
    simba.election('report').start()

    expect(() => simba.election('report').runWhileLeader(() => {})).toThrow(
      '"report" is already started on this client, as an election. Wait for its stop to settle before starting it again, or use another name.',
    )
    expect(() => simba.election('report').start()).toThrow(/as an election/)
  })

  test('a task stopped in one handle frees the name for another handle, right after its await', async ({
    world,
  }) => {
    const simba = world.client()
    const task = simba.election('report').runWhileLeader((term) => term.revoked)
    await world.time.settle()

    await world.soon(
      (async () => {
        await task.stop()
        simba.election('report').start()
        await simba.election('report').stop()
        await simba.lock('report').withLock(() => {})
        simba.election('report').start()
      })(),
    )
  })

  test('stays in use while the last onRevoked runs', async ({ world }) => {
    const election = world.client().election('report')
    election.start({ onRevoked: () => world.time.sleep(500) })
    await world.time.settle()
    void election.stop()
    await world.time.advance(400)
    expect(() => election.start()).toThrow(AlreadyStartedError)
    await world.time.advance(100)
    election.start()
  })

  test('by nobody but this client: other clients may use it as they like', async ({ world }) => {
    const a = world.client('a')
    const b = world.client('b')
    a.election('report').start()
    await world.time.settle()
    expect(await world.soon(b.lock('report').tryAcquire())).toBeUndefined()
    await world.soon(a.election('report').stop())
    const held = await world.soon(b.lock('report').tryAcquire())
    expect(held?.token).toBe(2n)
  })

  test('an iteration takes its name at the first next(), not before', async ({ world }) => {
    const simba = world.client()
    const terms = simba.election('report').terms()
    simba.election('report').start()

    expect(await world.failure(terms.next())).toBeInstanceOf(AlreadyStartedError)
  })
})

describe('a group', () => {
  test('reserves the names of all its partitions, or none', async ({ world }) => {
    const simba = world.client()
    simba.election('g.3').start()
    expect(() => simba.group('g', { partitions: 4 }).runWhileLeader(() => {})).toThrow(
      /"g\.3" is already started/,
    )

    for (const name of ['g.0', 'g.1', 'g.2']) simba.election(name).start()
  })

  test('of the same name, with other partitions, is the same group', async ({ world }) => {
    const simba = world.client()
    const task = simba.group('g', { partitions: 4 }).runWhileLeader(() => {})
    expect(() => simba.group('g', { partitions: 2 }).runWhileLeader(() => {})).toThrow(AlreadyStartedError)
    expect(() => simba.election('g.0').start()).toThrow(/as a partition/)
    simba.election('g').start()
    simba.election('g.4').start()
    await world.soon(task.stop())
    simba.group('g', { partitions: 2 }).runWhileLeader(() => {})
  })

  test('keeps the names of partitions that are another node’s', async ({ world }) => {
    const a = world
      .client('a')
      .group('g', { partitions: 8 })
      .runWhileLeader(() => {})
    const b = world.client('b')
    b.group('g', { partitions: 8 }).runWhileLeader(() => {})
    await world.time.advance(2 * RENEW)

    const [foreign] = a.partitions()
    expect(() => b.election(`g.${foreign}`).start()).toThrow(AlreadyStartedError)
  })
})

describe('election.stop() and stepDown()', () => {
  test('end a start of any form by the name, but leave locks and partitions alone', async ({ world }) => {
    const simba = world.client()
    simba.election('task').runWhileLeader((term) => term.revoked)
    simba.group('g', { partitions: 1 }).runWhileLeader((term) => term.revoked)
    const held = await world.soon(simba.lock('lock').acquire())
    await world.time.settle()
    const partition = simba.election('g.0').term
    const names = ['task', 'lock', 'g.0']
    await world.soon(Promise.all(names.map((name) => simba.election(name).stepDown(1_000))))
    expect(simba.election('task').term).toBeUndefined()
    await world.soon(Promise.all(names.map((name) => simba.election(name).stop())))

    expect(held.isValid).toBe(true)
    expect(partition?.isValid).toBe(true)
    expect(simba.snapshot().elections.map(({ name }) => name)).toEqual(['g.0'])
  })
})
