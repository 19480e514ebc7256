import { expect, test } from 'vitest'
import { World } from './world.js'

const FROM = Number(process.env.FUZZ_FROM ?? 1)
const SEEDS = Number(process.env.FUZZ_SEEDS ?? 40)
const STEPS = Number(process.env.FUZZ_STEPS ?? 150)

test('the laws hold, and everything recovers, in worlds of random faults', { timeout: 600_000 }, async () => {
  let elected = 0
  const bad: string[] = []
  for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
    const outcome = await new World(seed).run(STEPS)
    elected += outcome.elected
    if (outcome.violations.length > 0) {
      bad.push(`seed ${seed}: ${outcome.violations.slice(0, 3).join('; ')}`)
      if (process.env.FUZZ_TRACE) console.log(outcome.trace.slice(-Number(process.env.FUZZ_TRACE)).join('\n'))
    }
  }
  console.log(`${elected} terms in ${SEEDS} worlds`)
  expect(bad).toEqual([])
})
