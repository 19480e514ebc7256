import type { RevokeReason, Term } from '@simba/core'
import type { World } from './world.js'

/** Writes down what a listener hears, with the virtual time. */
export function recorder(world: World, lines: string[] = []) {
  const at = () => Math.round(world.time.now())
  const listener = {
    onElected: (term: Term) => void lines.push(`${at()} elected ${term.token}`),
    onRevoked: (term: Term, reason: RevokeReason) =>
      void lines.push(`${at()} revoked ${term.token} ${reason} valid=${term.isValid}`),
  }
  return { lines, listener }
}
