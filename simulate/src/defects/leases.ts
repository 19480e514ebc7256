/** Defects of acquiring, holding and giving back. */
import type { Effect, Election, EngineEvent, EngineState } from '../engine.js'
import type { Defect } from './defect.js'

export const leaseDefects: Readonly<Record<string, Defect>> = {
  'no-token-check': {
    does: 'adopts a grant with a token that it has released',
    wrap: (step) => (state, event, now) => {
      if (event.type === 'reply' && event.op === 'acquire') {
        state.tokens.clear()
        state.retiredTokens.clear()
        state.releases.clear()
      }
      return step(state, event, now)
    },
  },

  'release-before-revoke': {
    does: 'sends the release of a lease before it revokes the term',
    wrap: (step) => (state, event, now) => {
      const early: Effect[] = []
      const { session } = state
      const election = givenUp(state, event)
      if (election?.phase.phase === 'leader' && session.phase === 'open') {
        const { name, phase } = election
        const request = {
          op: 'release',
          id: state.nextId++,
          session: session.session,
          name,
          token: phase.term.token,
        } as const
        early.push({ type: 'call', request, timeoutMs: session.periodMs })
      }
      return [...early, ...step(state, event, now)]
    },
  },

  'handover-does-not-wait': {
    does: 'gives a lease back while work is running',
    wrap: (step) => (state, event, now) => {
      const election = givenUp(state, event)
      if (election?.phase.phase === 'leader') election.phase.term.working = false
      return step(state, event, now)
    },
  },

  'hint-reenters': {
    does: 'begins another attempt when a hint comes during one',
    wrap: (step) => (state, event, now) => {
      if (event.type === 'hint' && event.hint.kind === 'released') {
        const election = state.elections.get(event.hint.name)
        if (election?.phase.phase === 'candidate' && election.phase.attempt !== undefined) {
          election.phase.attempt = undefined
        }
      }
      return step(state, event, now)
    },
  },

  'two-keep-alives': {
    does: 'sends a keep-alive while another is in flight',
    wrap: (step) => (state, event, now) => {
      const { session } = state
      if (session.phase === 'open' && session.keepAlive !== undefined && event.type === 'hint') {
        session.keepAlive = undefined
        session.renewAt = now
        return [...step(state, { type: 'timer', timer: 'renew' }, now), ...step(state, event, now)]
      }
      return step(state, event, now)
    },
  },

  'orphans-kept': {
    does: 'does not give back a lease that it finds to be owned and unused',
    wrap: (step) => (state, event, now) => {
      const effects = step(state, event, now)
      const orphans = effects.flatMap((effect) =>
        effect.type === 'publish' && effect.event.type === 'OrphanReleased' ? [effect.event.name] : [],
      )
      if (orphans.length === 0) return effects
      for (const name of orphans) state.releases.delete(name)
      return effects.filter(
        (effect) =>
          !(
            effect.type === 'call' &&
            effect.request.op === 'release' &&
            orphans.includes(effect.request.name)
          ),
      )
    },
  },

  'owned-list-unread': {
    does: 'does not compare what the backend says it owns with what it holds',
    wrap: (step) => (state, event, now) => {
      if (event.type !== 'reply' || event.op !== 'keepAlive' || !event.outcome.ok)
        return step(state, event, now)
      const { value } = event.outcome
      if (value.kind !== 'renewed') return step(state, event, now)
      const owned = [...state.elections.values()].flatMap(({ name, phase }) =>
        'term' in phase ? [{ name, token: phase.term.token }] : [],
      )
      return step(state, { ...event, outcome: { ok: true, value: { ...value, owned } } }, now)
    },
  },

  'no-retry': {
    does: 'does not try again after an attempt that found the lease held',
    wrap: (step) => (state, event, now) =>
      step(state, event, now).filter(
        (effect) => !(event.type === 'reply' && effect.type === 'arm' && typeof effect.timer === 'number'),
      ),
  },

  'cooldown-ignored': {
    does: 'competes again at once after a step-down',
    wrap: (step) => (state, event, now) =>
      step(state, event.type === 'stepDown' ? { ...event, cooldownMs: 0 } : event, now),
  },
}

/** The election whose term this event gives up. */
function givenUp(state: EngineState, event: EngineEvent): Election | undefined {
  if (event.type !== 'stop' && event.type !== 'stepDown') return undefined
  const election = state.elections.get(event.name)
  return election?.start === event.start ? election : undefined
}
