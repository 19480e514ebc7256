/** Whether a client can do its job: never whether it leads. */

import type { SessionState } from './client/session-view.js'
import type { SimbaSnapshot } from './snapshot.js'

/**
 * - `up`: all is well. So is a follower, a client that has needed no session yet, and an election in a cooldown.
 * - `degraded`: it will pass or get worse: the last renewal failed, or a session is being opened, for less than a lease so far.
 * - `down`: no session for longer than a lease; an election that no longer competes, since the body of its iteration has not asked for the
 *   next term for a lease after its own ended; or the client is closed.
 */
export type HealthStatus = 'up' | 'degraded' | 'down'

export interface Health {
  readonly status: HealthStatus
  readonly session: SessionState
  /** What is wrong, in words; empty if nothing is. */
  readonly problems: readonly string[]
}

export function judge(snapshot: SimbaSnapshot, leaseMs: number): Health {
  const { session, elections } = snapshot
  const down: string[] = []
  const degraded: string[] = []
  if (session.state === 'CLOSED') down.push('The client is closed.')
  else if (session.missingMs > leaseMs) {
    down.push(
      `There has been no session for ${seconds(session.missingMs)}, longer than a lease: the backend cannot be reached, or refuses.`,
    )
  } else if (session.missingMs > 0)
    degraded.push(`A session has been being opened for ${seconds(session.missingMs)}.`)
  if (session.state === 'SUSPENDED') {
    degraded.push(
      `The last renewal failed; terms end in ${seconds(session.remainingMs)} unless one succeeds.`,
    )
  }
  for (const { name, use, work, token } of elections) {
    if (use !== 'iteration' || token !== undefined) continue
    const stuck = work.find((run) => run.overdueMs > leaseMs)
    if (stuck !== undefined) {
      down.push(
        `"${name}" does not compete: the loop over its terms has been in the body of an ended term (token ${stuck.token}) for ${seconds(stuck.overdueMs)}.`,
      )
    }
  }
  const status = down.length > 0 ? 'down' : degraded.length > 0 ? 'degraded' : 'up'
  return { status, session: session.state, problems: [...down, ...degraded] }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
