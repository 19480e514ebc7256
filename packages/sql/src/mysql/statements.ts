/**
 * What is said to MySQL and MariaDB. Each statement is a transaction of its own, and one that changes rows looks at their latest state,
 * locked, at every isolation level.
 *
 * Times are the database's: epoch ms in UTC. `now()` is fixed when a statement begins, before it waits for a lock; `sysdate()` is read
 * while a row is looked at, but in the session's time zone. So the time is the one of the beginning in UTC, and what has passed since.
 * Conditions on other rows refer to the row that is changed, so that they are looked at once that is locked.
 */
import { command, query, type SqlValue, type Statement } from '../statement.js'
import type { Flavor } from './flavor.js'
import { prefixOf } from './schema.js'

const passed = 'timestampdiff(microsecond, now(6), sysdate(6))'
const now = `((timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) + ${passed}) div 1000)`

/** Nobody waits for a statement any more that has itself waited for longer than this, in ms. */
const inTime = `${passed} < 1000 * ?`

export interface MysqlStatements {
  insertSession(id: string, leaseMs: number, metadata: string): Statement
  /** Count: 0 if the session has expired, or was renewed in this very millisecond. */
  renewSession(id: string, leaseMs: number, limitMs: number): Statement
  /** Rows: `remaining_ms`. Waits for a change of the session that is under way. */
  shareSession(id: string): Statement
  deleteSession(id: string): Statement

  /** Rows: `name`, `token`. */
  ownedLeases(id: string): Statement
  freeLeases(id: string): Statement
  /** Takes a lease that is free, if the session lives. The token is assigned first, as SET goes from left to right. Count, `insertId`. */
  claimLease(name: string, id: string, limitMs: number): Statement
  /**
   * Row: `holder` and `token` if there is the lease, `held_ms` if its holder has a session, `live_ms` of the own session. Locks nothing:
   * what it says lives does, and what it does not say is to be looked at with locks.
   */
  look(name: string, id: string): Statement
  /** The first term, if the session lives. Count: 0 if somebody was faster. */
  insertLease(name: string, id: string): Statement
  /** Takes a lease whose holder's session has expired, if it has still that token and the own session lives. Count. */
  takeLease(name: string, id: string, token: bigint, limitMs: number): Statement
  /** Count: 0 unless session and token match. */
  releaseLease(name: string, id: string, token: bigint): Statement

  /** Count: 0 if it is a member already, or has expired. The session cannot be deleted meanwhile. */
  insertMember(group: string, id: string): Statement
  /** Rows: one if it is a member. */
  readMember(group: string, id: string): Statement
  deleteMember(group: string, id: string): Statement
  deleteMemberships(id: string): Statement
  /** Rows: `session_id`. */
  liveMembers(group: string): Statement

  /** Rows: `session_id`, those that expired first; found by index. An expired session stays that, so nothing need be locked. */
  expiredSessions(limit: number): Statement
  deleteSessions(ids: readonly string[]): Statement
  deleteMembershipsOf(ids: readonly string[]): Statement

  /** Rows: `session_id`, `remaining_ms`, `metadata` of live sessions; with a lease given, of its holder only. */
  inspectSessions(lease?: string): Statement
  /** Rows: `name`, `token`, `session_id`: that of a live session or `''`. */
  inspectLeases(lease?: string): Statement
  /** Rows: `group_name`, `session_id` of live members, ordered by group. */
  inspectMembers(): Statement

  /** Rows: `table_name`, `column_name`, `type`, `key` of the tables that are there. */
  describeColumns(): Statement
}

export function statementsIn(schema: string | undefined, { share }: Flavor): MysqlStatements {
  const prefix = prefixOf(schema)
  const sessions = `${prefix}simba_session`
  const leases = `${prefix}simba_lease`
  const members = `${prefix}simba_member`
  const live = `s.expires_at > ${now}`
  const leaseAndHolder = `
    select l.name, cast(l.token as char) as token, coalesce(s.session_id, '') as session_id
    from ${leases} l left join ${sessions} s on s.session_id = l.session_id and ${live}`
  const groupAndMember = `
    select m.group_name, m.session_id from ${members} m join ${sessions} s on s.session_id = m.session_id and ${live}`
  /** The own session lives, as seen once the row of `l` is locked. */
  const iLive = `exists (select 1 from ${sessions} s where s.session_id = ? and ${live} + 0 * l.token)`

  return {
    insertSession: (id, leaseMs, metadata) =>
      command(
        `insert into ${sessions} (session_id, expires_at, metadata) values (?, ${now} + ?, ?)`,
        ...[id, leaseMs, metadata],
      ),
    renewSession: (id, leaseMs, limitMs) =>
      command(
        `update ${sessions} s set s.expires_at = ${now} + ? where s.session_id = ? and ${live} and ${inTime}`,
        ...[leaseMs, id, limitMs],
      ),
    shareSession: (id) =>
      query(`select expires_at - ${now} as remaining_ms from ${sessions} where session_id = ? ${share}`, id),
    deleteSession: (id) => command(`delete from ${sessions} where session_id = ?`, id),

    ownedLeases: (id) =>
      query(`select name, cast(token as char) as token from ${leases} where session_id = ?`, id),
    freeLeases: (id) => command(`update ${leases} set session_id = '' where session_id = ?`, id),
    claimLease: (name, id, limitMs) =>
      command(
        `update ${leases} l set l.token = last_insert_id(l.token + 1), l.session_id = ?
         where l.name = ? and l.session_id = '' and ${iLive} and ${inTime}`,
        ...[id, name, id, limitMs],
      ),
    look: (name, id) =>
      query(
        `select l.session_id as holder, cast(l.token as char) as token,
           h.expires_at - ${now} as held_ms, me.expires_at - ${now} as live_ms
         from (select 1 as one) one
           left join ${leases} l on l.name = ?
           left join ${sessions} h on h.session_id = l.session_id
           left join ${sessions} me on me.session_id = ?`,
        ...[name, id],
      ),
    insertLease: (name, id) =>
      command(
        `insert ignore into ${leases} (name, session_id, token)
         select ?, s.session_id, 1 from ${sessions} s where s.session_id = ? and ${live} ${share}`,
        ...[name, id],
      ),
    takeLease: (name, id, token, limitMs) =>
      command(
        `update ${leases} l set l.token = l.token + 1, l.session_id = ?
         where l.name = ? and l.token = cast(? as signed) and l.session_id <> ''
           and not exists (select 1 from ${sessions} s where s.session_id = l.session_id and ${live} ${share})
           and ${iLive} and ${inTime}`,
        ...[id, name, String(token), id, limitMs],
      ),
    releaseLease: (name, id, token) =>
      command(
        `update ${leases} set session_id = '' where name = ? and session_id = ? and token = cast(? as signed)`,
        ...[name, id, String(token)],
      ),

    insertMember: (group, id) =>
      command(
        `insert ignore into ${members} (group_name, session_id)
         select ?, s.session_id from ${sessions} s where s.session_id = ? and ${live} ${share}`,
        ...[group, id],
      ),
    readMember: (group, id) =>
      query(`select 1 as member from ${members} where group_name = ? and session_id = ?`, group, id),
    deleteMember: (group, id) =>
      command(`delete from ${members} where group_name = ? and session_id = ?`, group, id),
    deleteMemberships: (id) => command(`delete from ${members} where session_id = ?`, id),
    liveMembers: (group) => query(`${groupAndMember} where m.group_name = ?`, group),

    expiredSessions: (limit) =>
      query(
        `select session_id from ${sessions} where expires_at <= ${now} order by expires_at limit ${Math.trunc(limit)}`,
      ),
    deleteSessions: (ids) => command(`delete from ${sessions} where session_id in (${marks(ids)})`, ...ids),
    deleteMembershipsOf: (ids) =>
      command(`delete from ${members} where session_id in (${marks(ids)})`, ...ids),

    inspectSessions: (lease) => {
      const sql = `select s.session_id, s.expires_at - ${now} as remaining_ms, s.metadata from ${sessions} s where ${live}`
      return lease === undefined
        ? query(sql)
        : query(`${sql} and s.session_id = (select session_id from ${leases} where name = ?)`, lease)
    },
    inspectLeases: (lease) =>
      lease === undefined
        ? query(`${leaseAndHolder} order by l.name`)
        : query(`${leaseAndHolder} where l.name = ?`, lease),
    inspectMembers: () => query(`${groupAndMember} order by m.group_name, m.session_id`),

    describeColumns: () => {
      const given: readonly SqlValue[] = schema === undefined ? [] : [schema]
      return query(
        `select c.table_name as table_name, c.column_name as column_name, coalesce(k.ordinal_position, 0) as \`key\`,
           concat(
             regexp_replace(c.column_type, '^bigint[(][0-9]+[)]', 'bigint'),
             if(c.collation_name is null or c.collation_name like '%\\_bin', '', ' ci')
           ) as type
         from information_schema.columns c
           left join information_schema.key_column_usage k
             on k.constraint_name = 'PRIMARY' and k.table_schema = c.table_schema
             and k.table_name = c.table_name and k.column_name = c.column_name
         where c.table_schema = ${schema === undefined ? 'database()' : '?'}
           and c.table_name in ('simba_session', 'simba_lease', 'simba_member')`,
        ...given,
      )
    },
  }
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}
