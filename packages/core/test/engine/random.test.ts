/** Random lives of one client. A failing one is shrunk, and printed as the actions that lead to it. */
import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createState } from '../../src/engine/state.js'
import { step } from '../../src/engine/step.js'
import { type Action, World } from './world.js'

/** Whole, or fast-check would count past it and never end. */
const RUNS = Math.ceil(Number(process.env.ENGINE_RUNS ?? 3_000))

vi.setConfig({ testTimeout: 10_000 + 2 * RUNS })

const name = fc.constantFrom('a', 'b', 'c')
const group = fc.constantFrom('g', 'h')
const kind = fc.constantFrom('plain' as const, 'working' as const, 'exclusive' as const, 'lock' as const)
const pick = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 2 }) },
  { weight: 1, arbitrary: fc.nat({ max: 39 }) },
)

const ms = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 4_000 }))
const does = <const Do extends string>(doing: Do) => ({ do: fc.constant(doing) })
const often = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight: 10 * weight, arbitrary })
const seldom = (arbitrary: fc.Arbitrary<Action>) => ({ weight: 2, arbitrary })

const honest: fc.WeightedArbitrary<Action>[] = [
  often(6, fc.record({ ...does('pass'), ms })),
  often(4, fc.record({ ...does('calm'), ms })),
  seldom(fc.record({ ...does('freeze'), ms: fc.integer({ min: 1, max: 12_000 }) })),
  often(7, fc.record({ ...does('start'), name, kind })),
  often(2, fc.record({ ...does('stop'), name })),
  often(2, fc.record({ ...does('stepDown'), name, ms })),
  often(3, fc.record({ ...does('exit'), name })),
  often(2, fc.record({ ...does('join'), group })),
  often(1, fc.record({ ...does('leave'), group })),
  often(2, fc.record({ ...does('hint'), name: fc.oneof(name, group) })),
  often(1, fc.record({ ...does('take'), name })),
  often(2, fc.record({ ...does('letGo'), name })),
  often(16, fc.record({ ...does('answer'), pick })),
  often(4, fc.record({ ...does('apply'), pick })),
  often(3, fc.record({ ...does('fail'), pick })),
  often(3, fc.record({ ...does('applyAndFail'), pick })),
  often(3, fc.record({ ...does('repeat'), pick })),
]
const dishonest: fc.WeightedArbitrary<Action>[] = [
  seldom(fc.record(does('loseSessions'))),
  seldom(fc.record({ ...does('steal'), name })),
]
const closing: fc.WeightedArbitrary<Action>[] = [seldom(fc.record({ ...does('close'), force: fc.boolean() }))]

const seed = fc.integer()
/** Clocks that differ by no more than the drift that the client allows for. */
const rate = fc.constantFrom(0.99, 1, 1.01)
const lives = (...actions: fc.WeightedArbitrary<Action>[]) =>
  fc.array(fc.oneof(...actions), { minLength: 1, maxLength: 150, size: 'max' })

/** A lease for what an earlier session may still own, three calls that are given up, and the longest wait between two attempts. */
const BOUND_MS = 10_000 / 0.99 + 3 * 3_000 + 2_500 + 200

test('the laws hold, and a term is valid only while its lease is owned, whatever comes in whatever order', () => {
  fc.assert(
    fc.property(seed, rate, lives(...honest, ...closing), (seed, rate, actions) => {
      new World(seed, rate).run(actions)
    }),
    { numRuns: RUNS },
  )
})

test('the laws hold when the backend loses its sessions, or gives a lease to two', () => {
  fc.assert(
    fc.property(seed, rate, lives(...honest, ...dishonest, ...closing), (seed, rate, actions) => {
      new World(seed, rate).run(actions)
    }),
    { numRuns: RUNS },
  )
})

test('once answers are truthful and prompt, each election leads or knows who does, and nothing is left over', () => {
  fc.assert(
    fc.property(seed, rate, lives(...honest, ...dishonest), (seed, rate, actions) => {
      const world = new World(seed, rate)
      const { rig, backend } = world
      rig.boot()
      world.run(actions)
      world.heal(BOUND_MS)
      for (const { name, phase, heldBy } of rig.state.elections.values()) {
        if (phase.phase === 'leader') continue
        expect({ name, heldBy, phase }).toMatchObject({ heldBy: { holder: 'stranger' } })
        expect(backend.ownerOf(name, rig.now)).toBe('stranger')
      }
      world.heal(10_000)
      const { session } = rig.state
      if (session.phase !== 'open')
        return expect(rig.log.some(({ event }) => event.type === 'start')).toBe(false)
      const leading = [...rig.state.elections.values()].flatMap(({ name, phase }) =>
        phase.phase === 'leader' ? [[name, phase.term.token] as const] : [],
      )
      expect(backend.ownedBy(session.session.id, rig.now)).toEqual(Object.fromEntries(leading))
      expect(backend.groupsOf(session.session.id).sort()).toEqual(world.wantedGroups)
      expect(backend.liveSessions(rig.now)).toEqual([session.session.id])
    }),
    { numRuns: RUNS },
  )
})

test('a close ends all that was promised, within the time of one call once work has exited', () => {
  const force = fc.boolean()
  const answered = fc.boolean()
  fc.assert(
    fc.property(
      seed,
      rate,
      lives(...honest, ...dishonest),
      force,
      answered,
      (seed, rate, actions, force, answered) => {
        const world = new World(seed, rate)
        world.run([...actions, { do: 'close', force }])
        world.exitAll()
        if (answered) world.heal(3_001)
        else world.run([{ do: 'pass', ms: 3_001 }])
        expect(world.laws.closed).toBe(true)
        expect([...world.laws.open.keys()]).toEqual([])
        expect([...world.rig.timers]).toEqual([])
        expect(world.rig.released('a')).toEqual([])
      },
    ),
    { numRuns: RUNS },
  )
})

test('the same state and the same events have the same effects', () => {
  fc.assert(
    fc.property(seed, lives(...honest, ...dishonest, ...closing), (seed, actions) => {
      const { rig } = new World(seed, 1)
      const world = new World(seed, 1)
      world.run(actions)
      const state = createState(rig.timing, seed)
      const again = world.rig.log.flatMap(({ event, now }) => step(state, event, now))
      deepStrictEqual(again, world.rig.effects)
      deepStrictEqual(state, world.rig.state)
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  )
})
