/** A hint may come at any moment of a hand-over, early, late, twice or never: it makes a node try, and nothing else. */
import { expect } from 'vitest'
import { LEASE, RENEW, test } from '../api/world.js'
import { Oracle } from './oracle.js'

/** When the hint of a release reaches each follower, in ms: before others can act on theirs, between, and after. */
const DELAYS = [0, 1, 3, 7, 20]

for (const nodes of [2, 3]) {
  test(`among ${nodes} nodes, whenever hints arrive, one leads and tokens rise`, async ({ world }) => {
    const oracle = new Oracle(world)
    const names = ['a', 'b', 'c'].slice(0, nodes)
    for (const node of names) oracle.compete(node, 'report')
    await oracle.pass(RENEW)
    let hint = 0
    world.fault({
      on: 'hint',
      decide: () => {
        hint += 1
        const ms = DELAYS[hint % DELAYS.length] ?? 0
        return hint % 4 === 0
          ? [
              { kind: 'delay-request', ms },
              { kind: 'repeat-request', ms: 2 },
            ]
          : { kind: 'delay-request', ms }
      },
    })
    // Calls take a while too, so that a hint may overtake the answer that it belongs to.
    world.fault({
      on: ['acquire', 'release'],
      decide: ({ client }) => ({ kind: 'delay-request', ms: client === 'a' ? 2 : 5 }),
    })
    for (let turn = 0; turn < 60; turn += 1) {
      const leader = oracle.leader ?? 'a'
      const election = world.get(leader).election('report')
      const down = election.stepDown(turn % 3 === 0 ? 1 : turn)
      await oracle.pass(40 + turn, 1)
      await world.time.until(down, { within: RENEW })
    }
    await oracle.pass(LEASE)
    expect(oracle.leader).toBeDefined()
    expect(oracle.terms.length).toBeGreaterThan(50)
  })
}
