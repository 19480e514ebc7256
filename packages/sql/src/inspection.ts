/** What operators are shown, from rows of three queries. */
import type { Inspection, SessionId } from '@simba/core'
import { bigintOf, numberOf, textOf } from './rows.js'
import type { SqlRow } from './statement.js'

export interface InspectionRows {
  /** `session_id`, `remaining_ms`, `metadata` of live sessions. */
  readonly sessions: readonly SqlRow[]
  /** `name`, `token`, `session_id`: that of a live session or `''`. */
  readonly leases: readonly SqlRow[]
  /** `group_name`, `session_id` of live members, ordered by group. */
  readonly members: readonly SqlRow[]
}

export function inspectionOf({ sessions, leases, members }: InspectionRows): Inspection {
  return {
    sessions: sessions.map((row) => ({
      id: textOf(row, 'session_id'),
      remainingMs: numberOf(row, 'remaining_ms'),
      metadata: textOf(row, 'metadata'),
    })),
    leases: leases.map((row) => {
      const [name, holder, token] = [textOf(row, 'name'), textOf(row, 'session_id'), bigintOf(row, 'token')]
      return holder === '' ? { name, token } : { name, holder, token }
    }),
    groups: groupsOf(members),
  }
}

function groupsOf(rows: readonly SqlRow[]): Inspection['groups'] {
  const groups = new Map<string, SessionId[]>()
  for (const row of rows) {
    const [group, member] = [textOf(row, 'group_name'), textOf(row, 'session_id')]
    const members = groups.get(group)
    if (members === undefined) groups.set(group, [member])
    else members.push(member)
  }
  return [...groups].map(([group, members]) => ({ group, members }))
}
