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

interface Rig {
  readonly state: EngineState
  /** How many elections, in as many slots. */
  readonly elections: number
  now: number
}

function open(state: EngineState): void {
  const [call] = step(state, { type: 'boot' }, 0)
  if (call?.type !== 'call' || call.request.op !== 'openSession') throw new Error('no session is opened')
  step(
    state,
    {
      type: 'reply',
      op: 'openSession',
      request: call.request,
      sentAt: 0,
      outcome: { ok: true, value: { id: 'me', remainingMs: TIMING.leaseMs } },
    },
    0,
  )
}

function rig(elections: number): Rig {
  const state = createState(TIMING, 1)
  const names = Array.from({ length: elections }, (_, index) => `name.${index}`)
  open(state)
  for (const [index, name] of names.entries()) {
    for (const effect of step(state, { type: 'start', name, start: index, kind: 'working' }, 0)) {
      if (effect.type !== 'call' || effect.request.op !== 'acquire') continue
      const { request } = effect
      const outcome = { ok: true, value: { kind: 'held', holder: 'other' } } as const
      step(state, { type: 'reply', op: 'acquire', request, sentAt: 0, outcome }, 0)
    }
  }
  return { state, elections, now: 0 }
}

/** Goes through the elections in turn, once in the longest time between two attempts, and renews the session whenever that is due. */
function run(own: Rig): void {
  const { state, elections } = own
  const spacingMs = (TIMING.renewMs / 2 + TIMING.retryJitterMs) / elections
  let taken = 0
  while (taken < STEPS) {
    for (let slot = 0; slot < elections; slot++) {
      own.now += spacingMs
      taken += attempt(own, slot)
      if (state.session.phase === 'open' && own.now >= state.session.renewAt) taken += renew(own)
      if (taken >= STEPS) break
    }
  }
}

function attempt({ state, now }: Rig, slot: number): number {
  let taken = 1
  for (const effect of step(state, { type: 'timer', timer: slot }, now)) {
    if (effect.type !== 'call' || effect.request.op !== 'acquire') continue
    const { request } = effect
    const outcome = { ok: true, value: { kind: 'held', holder: 'other' } } as const
    step(state, { type: 'reply', op: 'acquire', request, sentAt: now, outcome }, now)
    taken += 1
  }
  return taken
}

function renew({ state, now }: Rig): number {
  for (const effect of step(state, { type: 'timer', timer: 'renew' }, now)) {
    if (effect.type !== 'call' || effect.request.op !== 'keepAlive') continue
    const value = { kind: 'renewed', remainingMs: TIMING.leaseMs, owned: [] } as const
    const { request } = effect
    step(state, { type: 'reply', op: 'keepAlive', request, sentAt: now, outcome: { ok: true, value } }, now)
  }
  return 2
}

/** A client with this much work running closes, and the work exits piece by piece, the first begun last. */
function close(works: number): void {
  const state = createState(TIMING, 1)
  open(state)
  const terms: number[] = []
  for (let slot = 0; slot < works; slot++) {
    for (const effect of step(
      state,
      { type: 'start', name: `name.${slot}`, start: slot, kind: 'working' },
      0,
    )) {
      if (effect.type !== 'call' || effect.request.op !== 'acquire') continue
      const outcome = { ok: true, value: { kind: 'granted', token: 1n } } as const
      for (const { type, ...elected } of step(
        state,
        { type: 'reply', op: 'acquire', request: effect.request, sentAt: 0, outcome },
        0,
      )) {
        if (type === 'elected' && 'term' in elected) terms.push(elected.term)
      }
    }
  }
  step(state, { type: 'close', force: false }, 1)
  for (let slot = works - 1; slot >= 0; slot--) {
    const term = terms[slot] ?? 0
    for (const effect of step(state, { type: 'workExited', name: `name.${slot}`, start: slot, term }, 1)) {
      if (effect.type !== 'call' || effect.request.op !== 'release') continue
      const outcome = { ok: true, value: undefined } as const
      step(state, { type: 'reply', op: 'release', request: effect.request, sentAt: 1, outcome }, 1)
    }
  }
  if (state.elections.size > 1) throw new Error(`${state.elections.size} elections are left`)
}

export async function engine(): Promise<readonly Measure[]> {
  const rates = new Map<number, number>()
  for (const elections of [1_000, 100_000]) {
    const own = rig(elections)
    run(own)
    rates.set(elections, await median(5, () => perSecond(STEPS, () => run(own))))
  }
  const closing = await median(5, () => perSecond(10_000, () => close(10_000)))
  const fewClosing = await median(5, () =>
    perSecond(10_000, () => {
      for (let client = 0; client < 100; client++) close(100)
    }),
  )
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
    {
      bench: 'engine',
      measure: 'closing with 10,000 pieces of work',
      value: closing,
      unit: 'pieces/s',
      baseline: fewClosing,
      ratio: closing / fewClosing,
      goal: 'at least 0.2 × the rate with 100',
      met: closing / fewClosing >= 0.2,
    },
  ]
}
