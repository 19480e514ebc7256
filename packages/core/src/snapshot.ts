/** What a client is doing now, as plain data. */
import type { SessionId } from './backend.js'
import type { Candidacy, CandidacyState } from './client/candidacy.js'
import type { Client, NameUse } from './client/client.js'
import type { Groups } from './client/groups.js'
import type { Locks } from './client/locks.js'
import type { SessionState } from './client/session-view.js'

/** A run of the user's work that has not exited. */
export interface RunSnapshot {
  readonly token: bigint
  /** For how long it has been running, in ms. */
  readonly runningMs: number
  /** For how long it has ignored the end of its term, in ms; 0 while the term has not been revoked. */
  readonly overdueMs: number
}

export interface ElectionSnapshot {
  readonly name: string
  /** What it was started as. */
  readonly use: NameUse
  /** `handover` lasts from a term's end until its work has exited and the lease is given back. */
  readonly state: CandidacyState
  readonly stopping: boolean
  /** Of the present term. */
  readonly token: bigint | undefined
  /** Time until the present term's deadline, in ms; 0 without a valid term. */
  readonly remainingMs: number
  readonly work: readonly RunSnapshot[]
}

export interface LockSnapshot {
  readonly name: string
  /** Of the term that is held on this client. */
  readonly token: bigint | undefined
  readonly remainingMs: number
  /** For how long it has been held, in ms; 0 if it is not. */
  readonly heldMs: number
  /** How many calls of this client wait for it. */
  readonly waiting: number
}

export interface GroupSnapshot {
  readonly name: string
  readonly members: readonly SessionId[]
  /** This node's in its latest view. */
  readonly partitions: readonly number[]
  /** Partitions whose elections exist here: competing, running, or handing over. */
  readonly running: readonly number[]
}

export interface SimbaSnapshot {
  readonly session: {
    readonly state: SessionState
    readonly id: SessionId | undefined
    /** For how long the client has been without a session that it needs, in ms; 0 if it has one, or needs none yet. */
    readonly missingMs: number
    /** Time until the session's deadline, in ms; 0 without one. */
    readonly remainingMs: number
  }
  /** Elections, tasks, iterations and partitions. */
  readonly elections: readonly ElectionSnapshot[]
  readonly locks: readonly LockSnapshot[]
  readonly groups: readonly GroupSnapshot[]
}

export function takeSnapshot(client: Client, locks: Locks, groups: Groups): SimbaSnapshot {
  const now = client.clock.now()
  const { session } = client
  const elections = [...client.candidacies.values()].filter(({ kind }) => kind !== 'lock')
  return {
    session: {
      state: session.state,
      id: session.id,
      missingMs: session.missingSince === undefined ? 0 : now - session.missingSince,
      remainingMs: client.sessionRemaining(),
    },
    elections: elections.map((candidacy) => snapshotOf(client, candidacy, now)),
    locks: [...locks.values()].map(({ name, term, waiting }) => ({
      name,
      token: term?.token,
      remainingMs: term?.remaining() ?? 0,
      heldMs: term === undefined ? 0 : now - term.startedAt,
      waiting,
    })),
    groups: [...groups.values()].map(({ group, members, assigned, running }) => ({
      name: group,
      members,
      partitions: assigned,
      running: [...running.keys()].sort((a, b) => a - b),
    })),
  }
}

function snapshotOf(client: Client, candidacy: Candidacy, now: number): ElectionSnapshot {
  const { name, term, runs, isStopping } = candidacy
  return {
    name,
    use: client.uses.get(name) ?? 'election',
    state: candidacy.state(now),
    stopping: isStopping,
    token: term?.token,
    remainingMs: term?.remaining() ?? 0,
    work: [...runs].map((run) => ({
      token: run.term.token,
      runningMs: now - run.startedAt,
      overdueMs: run.term.endedAt === undefined ? 0 : now - run.term.endedAt,
    })),
  }
}
