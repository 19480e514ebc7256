/**
 * A node that lost its session resets in steps: it closes the old session, opens a new one, and attempts. A hint that its lease was
 * released may come between any two of these, to it and to others, also when nothing was released.
 */
import type { Hint, LeaseBackend } from '@simba/core'
import { expect } from 'vitest'
import { RENEW, test, type World } from '../api/world.js'
import { Oracle } from './oracle.js'

/** A client's connection, with a way to tell it at any time that the lease was released. */
function withHints(world: World, node: string): { backend: LeaseBackend; hint: () => void } {
  const own = world.backend.connect(node)
  let listener: (hint: Hint) => void = () => {}
  const backend: LeaseBackend = {
    name: 'hinted',
    openSession: (...given) => own.openSession(...given),
    keepAlive: (...given) => own.keepAlive(...given),
    closeSession: (...given) => own.closeSession(...given),
    acquire: (...given) => own.acquire(...given),
    release: (...given) => own.release(...given),
    join: (...given) => own.join(...given),
    leave: (...given) => own.leave(...given),
    members: (...given) => own.members(...given),
    hints: (told) => {
      listener = told
      return own.hints(told)
    },
    close: () => own.close(),
  }
  return { backend, hint: () => listener({ kind: 'released', name: 'report' }) }
}

/** Every way to give each of so many nodes one of the moments. */
function* assignments(nodes: number, moments: readonly number[]): Generator<readonly number[]> {
  if (nodes === 0) {
    yield []
    return
  }
  for (const rest of assignments(nodes - 1, moments)) {
    for (const moment of moments) yield [...rest, moment]
  }
}

/** How long each step of the reset takes, in ms: the order of the steps, which run side by side, follows from these. */
const PACES: readonly Readonly<Partial<Record<string, number>>>[] = [
  { closeSession: 1, release: 1, openSession: 2, acquire: 2 },
  { closeSession: 3, release: 3, openSession: 1, acquire: 1 },
  { closeSession: 5, release: 1, openSession: 1, acquire: 3 },
]

/** No hint at all, or one at this ms after the loss. */
const MOMENTS: Readonly<Record<number, readonly number[]>> = {
  2: [-1, 0, 1, 2, 3, 5],
  3: [-1, 0, 2, 3],
}

/** How a leader's term ends at this moment, and others come to compete for the lease. */
const ENDS: Readonly<Record<string, (world: World, leader: string, follower: string) => Promise<unknown>>> = {
  async 'the leader loses its session'(world, leader) {
    const cut = world.fault({ on: 'keepAlive', client: leader, kind: 'lose-request' })
    await world.time.advance(world.get(leader).snapshot().session.remainingMs)
    cut()
    return undefined
  },
  async 'the leader steps down'(world, leader) {
    return [world.get(leader).election('report').stepDown(1)]
  },
  async 'the leader steps down, and a follower loses its session a moment later'(world, leader, follower) {
    const cut = world.fault({ on: 'keepAlive', client: follower, kind: 'lose-request' })
    await world.time.advance(world.get(follower).snapshot().session.remainingMs - 3)
    cut()
    return [world.get(leader).election('report').stepDown(1)]
  },
}

for (const [how, end] of Object.entries(ENDS)) {
  for (const nodes of [2, 3]) {
    test(`among ${nodes} nodes, ${how}: whenever each is told of a release, one leads, by the lease that it has, and tokens rise`, {
      timeout: 60_000,
    }, async ({ world }) => {
      const oracle = new Oracle(world)
      const names = ['a', 'b', 'c'].slice(0, nodes)
      const hints = new Map<string, () => void>()
      for (const node of names) {
        const { backend, hint } = withHints(world, node)
        hints.set(node, hint)
        oracle.compete(node, 'report', { backend })
        await world.time.settle()
      }
      let changes = 0
      for (const pace of PACES) {
        const slow = world.fault({ decide: ({ on }) => ({ kind: 'delay-request', ms: pace[on] ?? 0 }) })
        for (const moments of assignments(nodes, MOMENTS[nodes] ?? [])) {
          const leader = oracle.leader ?? ''
          await end(world, leader, names.find((node) => node !== leader) ?? '')
          expect(oracle.leader).toBeUndefined()
          for (let ms = 0; ms < 10; ms += 1) {
            for (const [index, node] of names.entries()) if (moments[index] === ms) hints.get(node)?.()
            await oracle.pass(1, 1)
            const next = oracle.leader
            if (next === undefined) continue
            expect(world.holderOf('report')).toBe(world.get(next).snapshot().session.id)
          }
          if (oracle.leader !== leader) changes += 1
          await oracle.pass(RENEW, RENEW)
          expect(oracle.leader).toBeDefined()
        }
        slow()
      }
      expect(changes).toBeGreaterThan(10)
    })
  }
}
