/**
 * What differs between databases in SQL text. Each dialect is one object in `dialects/`; all have the same members in the same order,
 * so that two of them can be compared side by side.
 *
 * Names of result columns are those of the tables, and `remaining_ms`: how long a session still lives by the database's clock, 0 or
 * less once it has expired. Where a database locks rows, the statements named `lock…` do so for changes and `share…` against them;
 * where it locks the whole file, they just read.
 */
import type { Statement } from './steps.js'

/** A column as `describeColumns` tells of it. */
export interface Column {
  readonly type: string
  /** Its place in the primary key, or 0. */
  readonly key: number
}

type Columns = { readonly [column: string]: Column }

/** The columns that a dialect's tables have. */
export type Tables = { readonly [table: string]: Columns }

export interface SqlDialect {
  /** The name of the backend in messages. */
  readonly name: string

  /** The tables and indexes, as given to people; statements end in `;` at the end of a line. */
  readonly ddl: string

  /** What `describeColumns` must find at least. */
  readonly tables: Tables

  /** Count: 1. */
  insertSession(id: string, leaseMs: number, metadata: string): Statement
  /** Rows: `remaining_ms`. */
  lockSession(id: string): Statement
  /** Rows: `remaining_ms`. */
  shareSession(id: string): Statement
  renewSession(id: string, leaseMs: number): Statement
  deleteSession(id: string): Statement

  /** Rows: `name`, `token` of all leases with this session. */
  ownedLeases(id: string): Statement
  freeLeases(id: string): Statement
  /** Rows: `session_id`, `token`; `session_id` is `''` once released. */
  lockLease(name: string): Statement
  /** The first term. Count: 0 if the name is there already. */
  insertLease(name: string, id: string): Statement
  /** Another term. Count: 0 unless the lease still has this token. */
  takeLease(name: string, id: string, token: bigint): Statement
  /** Count: 0 unless session and token match. */
  releaseLease(name: string, id: string, token: bigint): Statement

  /** Count: 0 if it is a member already. */
  insertMember(group: string, id: string): Statement
  /** Count: 0 if it is not a member. */
  deleteMember(group: string, id: string): Statement
  /** Rows: `group_name` of all groups with this session. */
  joinedGroups(id: string): Statement
  deleteMemberships(id: string): Statement
  /** Rows: `session_id`. */
  liveMembers(group: string): Statement

  /** Rows: `session_id`, those that expired first; found by index. */
  lockExpiredSessions(limit: number): Statement
  deleteSessions(ids: readonly string[]): Statement
  deleteMembershipsOf(ids: readonly string[]): Statement

  /** Rows: `session_id`, `remaining_ms`, `metadata` of live sessions; with a lease given, of its holder only. */
  inspectSessions(lease?: string): Statement
  /** Rows: `name`, `token`, `session_id`: that of a live session or `''`. */
  inspectLeases(lease?: string): Statement
  /** Rows: `group_name`, `session_id` of live members, ordered by group. */
  inspectMembers(): Statement

  /** Rows: as `inspectLeases`, for the names given. */
  watchedLeases(names: readonly string[]): Statement
  /** Rows: as `inspectMembers`, for the groups given, ordered by both columns. */
  watchedMembers(groups: readonly string[]): Statement

  /** Rows: `table_name`, `column_name`, `type`, `key` (place in the primary key, or 0) of the tables that are there. */
  describeColumns(): Statement

  /** Whether another attempt may succeed soon. */
  isRetryable(error: unknown): boolean
  /** What a driver's error means and what to do, as the end of a sentence; `undefined` if its own message says all that is known. */
  explain(error: unknown): string | undefined
}
