/**
 * What is said to SQLite. Each transaction that writes holds the lock of the whole file from its beginning, so reading is locking.
 *
 * All processes of a machine share one clock. In SQL it is UTC, and the same throughout a statement. `remaining_ms` is how long a session
 * still lives by it, 0 or less once it has expired.
 */
import type { Tables } from '../shape.js'
import { command, query, type Statement } from '../statement.js'

/** Epoch ms. Julian days hold milliseconds exactly, and unlike `unixepoch('subsec')` every SQLite knows them. */
const now = "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)"

const live = `s.expires_at > ${now}`

/** A list of texts as one parameter. */
const listed = '(select value from json_each(?))'

export const ddl = `create table if not exists simba_session
(
    session_id text    not null primary key,
    expires_at integer not null, -- database time, epoch ms
    metadata   text    not null default ''
) strict, without rowid;

create index if not exists idx_session_expires on simba_session (expires_at);

create table if not exists simba_lease
(
    name       text    not null primary key,
    session_id text    not null default '', -- '' = free
    token      integer not null -- term number, never reset; rows are never deleted
) strict, without rowid;

create index if not exists idx_lease_session on simba_lease (session_id);

create table if not exists simba_member
(
    group_name text not null,
    session_id text not null,
    primary key (group_name, session_id)
) strict, without rowid;

create index if not exists idx_member_session on simba_member (session_id);
`

const leaseAndHolder = `
  select l.name, l.token, coalesce(s.session_id, '') as session_id
  from simba_lease l left join simba_session s on s.session_id = l.session_id and ${live}`

const groupAndMember = `
  select m.group_name, m.session_id
  from simba_member m join simba_session s on s.session_id = m.session_id and ${live}`

export const tables: Tables = {
  simba_session: {
    session_id: { type: 'text', key: 1 },
    expires_at: { type: 'integer', key: 0 },
    metadata: { type: 'text', key: 0 },
  },
  simba_lease: {
    name: { type: 'text', key: 1 },
    session_id: { type: 'text', key: 0 },
    token: { type: 'integer', key: 0 },
  },
  simba_member: {
    group_name: { type: 'text', key: 1 },
    session_id: { type: 'text', key: 2 },
  },
}

export function insertSession(id: string, leaseMs: number, metadata: string): Statement {
  const sql = `insert into simba_session (session_id, expires_at, metadata) values (?, ${now} + ?, ?)`
  return command(sql, id, leaseMs, metadata)
}

/** Rows: `remaining_ms`. */
export function readSession(id: string): Statement {
  return query(`select expires_at - ${now} as remaining_ms from simba_session where session_id = ?`, id)
}

export function renewSession(id: string, leaseMs: number): Statement {
  return command(`update simba_session set expires_at = ${now} + ? where session_id = ?`, leaseMs, id)
}

export function deleteSession(id: string): Statement {
  return command('delete from simba_session where session_id = ?', id)
}

/** Rows: `name`, `token` of all leases with this session. */
export function ownedLeases(id: string): Statement {
  return query('select name, token from simba_lease where session_id = ?', id)
}

export function freeLeases(id: string): Statement {
  return command("update simba_lease set session_id = '' where session_id = ?", id)
}

/** Rows: `session_id`, `token`; `session_id` is `''` once released. */
export function readLease(name: string): Statement {
  return query('select session_id, token from simba_lease where name = ?', name)
}

/** The first term. */
export function insertLease(name: string, id: string, token: bigint): Statement {
  return command('insert into simba_lease (name, session_id, token) values (?, ?, ?)', name, id, token)
}

/** Another term. */
export function takeLease(name: string, id: string): Statement {
  return command('update simba_lease set token = token + 1, session_id = ? where name = ?', id, name)
}

/** Count: 0 unless session and token match. */
export function releaseLease(name: string, id: string, token: bigint): Statement {
  const sql = "update simba_lease set session_id = '' where name = ? and session_id = ? and token = ?"
  return command(sql, name, id, token)
}

/** Count: 0 if it is a member already. */
export function insertMember(group: string, id: string): Statement {
  const sql = 'insert into simba_member (group_name, session_id) values (?, ?) on conflict do nothing'
  return command(sql, group, id)
}

/** Count: 0 if it is not a member. */
export function deleteMember(group: string, id: string): Statement {
  return command('delete from simba_member where group_name = ? and session_id = ?', group, id)
}

/** Rows: `group_name` of all groups with this session. */
export function joinedGroups(id: string): Statement {
  return query('select group_name from simba_member where session_id = ?', id)
}

export function deleteMemberships(id: string): Statement {
  return command('delete from simba_member where session_id = ?', id)
}

/** Rows: `session_id`. */
export function liveMembers(group: string): Statement {
  return query(`${groupAndMember} where m.group_name = ?`, group)
}

/** Rows: `session_id`, those that expired first; found by index. */
export function expiredSessions(limit: number): Statement {
  const sql = `select session_id from simba_session where expires_at <= ${now} order by expires_at limit ?`
  return query(sql, limit)
}

export function deleteSessions(ids: readonly string[]): Statement {
  return command(`delete from simba_session where session_id in ${listed}`, JSON.stringify(ids))
}

export function deleteMembershipsOf(ids: readonly string[]): Statement {
  return command(`delete from simba_member where session_id in ${listed}`, JSON.stringify(ids))
}

/** Rows: `session_id`, `remaining_ms`, `metadata` of live sessions; with a lease given, of its holder only. */
export function inspectSessions(lease?: string): Statement {
  const sql = `select s.session_id, s.expires_at - ${now} as remaining_ms, s.metadata from simba_session s where ${live}`
  return lease === undefined
    ? query(sql)
    : query(`${sql} and s.session_id = (select session_id from simba_lease where name = ?)`, lease)
}

/** Rows: `name`, `token`, `session_id`: that of a live session or `''`. */
export function inspectLeases(lease?: string): Statement {
  return lease === undefined
    ? query(`${leaseAndHolder} order by l.name`)
    : query(`${leaseAndHolder} where l.name = ?`, lease)
}

/** Rows: `group_name`, `session_id` of live members, ordered by group. */
export function inspectMembers(): Statement {
  return query(`${groupAndMember} order by m.group_name, m.session_id`)
}

/** Rows: as `inspectLeases`, for the names given. */
export function watchedLeases(names: readonly string[]): Statement {
  return query(`${leaseAndHolder} where l.name in ${listed}`, JSON.stringify(names))
}

/** Rows: as `inspectMembers`, for the groups given, ordered by both columns. */
export function watchedMembers(groups: readonly string[]): Statement {
  const sql = `${groupAndMember} where m.group_name in ${listed} order by m.group_name, m.session_id`
  return query(sql, JSON.stringify(groups))
}

/** Rows: `table_name`, `column_name`, `type`, `key` (place in the primary key, or 0) of the tables that are there. */
export function describeColumns(): Statement {
  return query(`
    select t.name as table_name, c.name as column_name, c.pk as "key",
      lower(c.type) || coalesce(' collate ' || lower((
        select x.coll from pragma_index_list(t.name) l, pragma_index_xinfo(l.name) x
        where l.origin = 'pk' and x.name = c.name and x.key = 1 and x.coll <> 'BINARY'
      )), '') as type
    from sqlite_master t, pragma_table_info(t.name) c
    where t.type = 'table' and t.name in ('simba_session', 'simba_lease', 'simba_member')
    order by t.name, c.cid`)
}
