import { leaseBackendSpec } from '@simba/tck'
import { VirtualTime } from '@simba/testing'
import { describe, expect, it } from 'vitest'
import { failuresOf, type Outcome, outcomesOf } from './in-process-runner.js'
import { Delegating, type Mutant } from './mutants/delegating.js'
import { leaseMutants } from './mutants/leases.js'
import { nameMutants } from './mutants/names.js'
import { callMutants, hintMutants, inspectMutants } from './mutants/optional.js'
import { groupMutants, ownedMutants } from './mutants/owned.js'
import { raceMutants } from './mutants/races.js'
import { sessionMutants } from './mutants/sessions.js'
import { tokenMutants } from './mutants/tokens.js'

const kinds = {
  sessions: sessionMutants,
  leases: leaseMutants,
  tokens: tokenMutants,
  'the list of what a session owns': ownedMutants,
  groups: groupMutants,
  names: nameMutants,
  races: raceMutants,
  hints: hintMutants,
  inspect: inspectMutants,
  calls: callMutants,
}

describe('the suite passes a backend that keeps the rules', () => {
  it('also through a delegate', async () => {
    const outcomes = await verdictOn(Delegating)
    expect(failuresOf(outcomes)).toEqual([])
    expect(outcomes.filter(({ skipped }) => skipped)).toEqual([])
  })
})

for (const [kind, mutants] of Object.entries(kinds)) {
  describe(`the suite catches broken backends: ${kind}`, () => {
    for (const { defect, caught, rule, make } of mutants) {
      it(defect, async () => {
        const failures = failuresOf(await verdictOn(make))
        const telling = failures.filter((failure) => failure.includes(`${caught}`))
        expect(telling, `failed were:\n${failures.join('\n')}`).toHaveLength(1)
        const expected = /^(B\d|")/.test(rule) ? `Rule ${rule} (of fencing )?is broken: ` : rule
        expect(telling[0]).toMatch(new RegExp(expected))
      })
    }
  })
}

async function verdictOn(Backend: Mutant['make']): Promise<Outcome[]> {
  using time = new VirtualTime({ watchdogMs: false })
  return outcomesOf((runner) =>
    leaseBackendSpec({
      name: 'mutant',
      runner,
      create: () => new Backend(time),
      connect: (backend) => backend,
      time,
      tolerance: { earlyMs: 0, lateMs: 0 },
      capabilities: { hints: true, inspect: true },
      callTimeoutMs: 50,
      raceRounds: 1,
    }),
  )
}
