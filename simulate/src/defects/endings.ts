/** Defects of groups, of closing, and of what users are told. */
import type { EngineState } from '../engine.js'
import type { Defect } from './defect.js'

export const endingDefects: Readonly<Record<string, Defect>> = {
  'leave-forgotten': {
    does: 'takes a leave for done without sending it',
    wrap: (step) => (state, event, now) => {
      const effects = step(state, event, now)
      const leave = effects.find((effect) => effect.type === 'call' && effect.request.op === 'leave')
      if (leave?.type !== 'call' || leave.request.op !== 'leave') return effects
      const { request } = leave
      const reply = {
        type: 'reply',
        op: 'leave',
        request,
        sentAt: now,
        outcome: { ok: true, value: undefined },
      } as const
      return [...effects.filter((effect) => effect !== leave), ...step(state, reply, now)]
    },
  },

  'close-keeps-session': {
    does: 'closes without closing its session in the backend',
    wrap: (step) => (state, event, now) => {
      const effects = step(state, event, now)
      const close = effects.find((effect) => effect.type === 'call' && effect.request.op === 'closeSession')
      if (close?.type !== 'call' || close.request.op !== 'closeSession') return effects
      const { request } = close
      const reply = {
        type: 'reply',
        op: 'closeSession',
        request,
        sentAt: now,
        outcome: { ok: true, value: undefined },
      } as const
      return [...effects.filter((effect) => effect !== close), ...step(state, reply, now)]
    },
  },

  'revoked-forgotten': {
    does: 'does not call onRevoked for a term that a stop ended',
    wrap: (step) => (state, event, now) =>
      step(state, event, now).filter(
        (effect) =>
          !(
            effect.type === 'complete' &&
            effect.completion.kind === 'term' &&
            effect.completion.reason === 'STOPPED'
          ),
      ),
  },

  'revoke-untold': {
    does: 'does not tell that a term given up has ended',
    wrap: (step) => (state, event, now) =>
      step(state, event, now).filter(
        (effect) => !(effect.type === 'revoked' && effect.reason === 'STEPPED_DOWN'),
      ),
  },

  'renewal-forgotten': {
    does: 'does not open a new session after one has ended',
    wrap: (step) => (state, event, now) => {
      const hadSession = state.session.phase === 'open'
      const effects = step(state, event, now)
      if (!hadSession || !isOpeningAgain(state)) return effects
      state.session = { phase: 'ended' }
      return effects.filter((effect) => !(effect.type === 'call' && effect.request.op === 'openSession'))
    },
  },
}

function isOpeningAgain(state: EngineState): boolean {
  return state.session.phase === 'opening'
}
