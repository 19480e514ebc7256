/** How many events the engine takes in a second: retries that find the lease held, and renewals that list what is owned. */
import { createState, type EngineState } from '../../packages/core/dist/esm/engine/state.js'
import { step } from '../../packages/core/dist/esm/engine/step.js'
import { type Measure, median, perSecond } from './measure.js'

const TIMING = {
  leaseMs: 15_000,
  renewMs: 5_000,
  drift: 0.01,
  marginMs: 50,
  retryJitterMs: 2_500,
  minBackoffMs: 100,
}
const STEPS = 600_000
/** An election tries every 2.5 to 5 s, and the session is renewed every 5 s, for all elections at once. */
const ATTEMPTS_PER_ELECTION_AND_RENEWAL = 1.33

interface Rig {
  readonly state: EngineState
  readonly names: readonly string[]
}

function rig(elections: number): Rig {
  const state = createState(TIMING, 1)
  const names = Array.from({ length: elections }, (_, index) => `name.${index}`)
  const [open] = step(state, { type: 'boot' }, 0)
  if (open?.type !== 'call' || open.request.op !== 'openSession') throw new Error('no session is opened')
  step(
    state,
    {
      type: 'reply',
      op: 'openSession',
      request: open.request,
      sentAt: 0,
      outcome: { ok: true, value: { id: 'me', remainingMs: TIMING.leaseMs } },
    },
    0,
  )
  for (const [index, name] of names.entries()) {
    for (const effect of step(state, { type: 'start', name, start: index, kind: 'working' }, 0)) {
      if (effect.type !== 'call' || effect.request.op !== 'acquire') continue
      const { request } = effect
      const outcome = { ok: true, value: { kind: 'held', holder: 'other' } } as const
      step(state, { type: 'reply', op: 'acquire', request, sentAt: 0, outcome }, 0)
    }
  }
  return { state, names }
}

/** Goes through the elections again and again: the retry timer, and the answer that another holds the lease. */
function run({ state, names }: Rig): void {
  let now = 0
  let taken = 0
  let next = 0
  const attemptsPerRenewal = Math.floor(names.length * ATTEMPTS_PER_ELECTION_AND_RENEWAL)
  while (taken < STEPS) {
    now += 0.001
    const name = names[next++ % names.length] ?? ''
    const election = state.elections.get(name)
    if (election?.phase.phase === 'candidate' && election.phase.attempt === undefined) {
      election.phase = { ...election.phase, retryAt: now }
    }
    for (const effect of step(state, { type: 'timer', timer: `election:${name}` }, now)) {
      if (effect.type !== 'call' || effect.request.op !== 'acquire') continue
      const { request } = effect
      const outcome = { ok: true, value: { kind: 'held', holder: 'other' } } as const
      step(state, { type: 'reply', op: 'acquire', request, sentAt: now, outcome }, now)
    }
    taken += 2
    if (next % attemptsPerRenewal === 0) taken += renew(state, now)
  }
}

function renew(state: EngineState, now: number): number {
  if (state.session.phase !== 'open') throw new Error('the session has ended')
  state.session.renewAt = now
  for (const effect of step(state, { type: 'timer', timer: 'renew' }, now)) {
    if (effect.type !== 'call' || effect.request.op !== 'keepAlive') continue
    const value = { kind: 'renewed', remainingMs: TIMING.leaseMs, owned: [] } as const
    const { request } = effect
    step(state, { type: 'reply', op: 'keepAlive', request, sentAt: now, outcome: { ok: true, value } }, now)
  }
  return 2
}

export async function engine(): Promise<readonly Measure[]> {
  const rates = new Map<number, number>()
  for (const elections of [1_000, 100_000]) {
    const own = rig(elections)
    run(own)
    rates.set(elections, await median(5, () => perSecond(STEPS, () => run(own))))
  }
  const small = rates.get(1_000) ?? 0
  const large = rates.get(100_000) ?? 0
  return [
    {
      bench: 'engine',
      measure: 'steps with 1,000 elections',
      value: small,
      unit: '1/s',
      goal: 'at least 1,000,000',
      met: small >= 1e6,
    },
    {
      bench: 'engine',
      measure: 'steps with 100,000 elections',
      value: large,
      unit: '1/s',
      baseline: small,
      ratio: large / small,
      goal: 'at least 0.8 × the rate with 1,000',
      met: large / small >= 0.8,
    },
  ]
}
