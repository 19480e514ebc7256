/**
 * SQLite. Each transaction that writes holds the lock of the whole file from its beginning, so reading is locking.
 *
 * All processes of a machine share one clock. In SQL it is UTC, and the same throughout a statement.
 */
import type { SqlDialect } from '../dialect.js'
import { command, query } from '../steps.js'
import { explain, isRetryable } from './sqlite-errors.js'

/** Epoch ms. Julian days hold milliseconds exactly, and unlike `unixepoch('subsec')` every SQLite knows them. */
const now = "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)"

const live = `s.expires_at > ${now}`

/** A list of texts as one parameter. */
const listed = '(select value from json_each(?))'

const ddl = `create table if not exists simba_session
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

const remaining = `select expires_at - ${now} as remaining_ms from simba_session where session_id = ?`

const leaseAndHolder = `
  select l.name, l.token, coalesce(s.session_id, '') as session_id
  from simba_lease l left join simba_session s on s.session_id = l.session_id and ${live}`

const groupAndMember = `
  select m.group_name, m.session_id
  from simba_member m join simba_session s on s.session_id = m.session_id and ${live}`

export const sqlite: SqlDialect = {
  name: 'sqlite',
  ddl,
  tables: {
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
  },

  insertSession: (id, leaseMs, metadata) =>
    command(
      `insert into simba_session (session_id, expires_at, metadata) values (?, ${now} + ?, ?)`,
      id,
      leaseMs,
      metadata,
    ),
  lockSession: (id) => query(remaining, id),
  shareSession: (id) => query(remaining, id),
  renewSession: (id, leaseMs) =>
    command(`update simba_session set expires_at = ${now} + ? where session_id = ?`, leaseMs, id),
  deleteSession: (id) => command('delete from simba_session where session_id = ?', id),

  ownedLeases: (id) => query('select name, token from simba_lease where session_id = ?', id),
  freeLeases: (id) => command("update simba_lease set session_id = '' where session_id = ?", id),
  lockLease: (name) => query('select session_id, token from simba_lease where name = ?', name),
  insertLease: (name, id) =>
    command(
      'insert into simba_lease (name, session_id, token) values (?, ?, 1) on conflict (name) do nothing',
      name,
      id,
    ),
  takeLease: (name, id, token) =>
    command(
      'update simba_lease set token = token + 1, session_id = ? where name = ? and token = ?',
      id,
      name,
      token,
    ),
  releaseLease: (name, id, token) =>
    command(
      "update simba_lease set session_id = '' where name = ? and session_id = ? and token = ?",
      name,
      id,
      token,
    ),

  insertMember: (group, id) =>
    command(
      'insert into simba_member (group_name, session_id) values (?, ?) on conflict do nothing',
      group,
      id,
    ),
  deleteMember: (group, id) =>
    command('delete from simba_member where group_name = ? and session_id = ?', group, id),
  joinedGroups: (id) => query('select group_name from simba_member where session_id = ?', id),
  deleteMemberships: (id) => command('delete from simba_member where session_id = ?', id),
  liveMembers: (group) => query(`${groupAndMember} where m.group_name = ?`, group),

  lockExpiredSessions: (limit) =>
    query(
      `select session_id from simba_session where expires_at <= ${now} order by expires_at limit ?`,
      limit,
    ),
  deleteSessions: (ids) =>
    command(`delete from simba_session where session_id in ${listed}`, JSON.stringify(ids)),
  deleteMembershipsOf: (ids) =>
    command(`delete from simba_member where session_id in ${listed}`, JSON.stringify(ids)),

  inspectSessions: (lease) => {
    const sql = `select s.session_id, s.expires_at - ${now} as remaining_ms, s.metadata from simba_session s where ${live}`
    return lease === undefined
      ? query(sql)
      : query(`${sql} and s.session_id = (select session_id from simba_lease where name = ?)`, lease)
  },
  inspectLeases: (lease) =>
    lease === undefined
      ? query(`${leaseAndHolder} order by l.name`)
      : query(`${leaseAndHolder} where l.name = ?`, lease),
  inspectMembers: () => query(`${groupAndMember} order by m.group_name, m.session_id`),

  watchedLeases: (names) => query(`${leaseAndHolder} where l.name in ${listed}`, JSON.stringify(names)),
  watchedMembers: (groups) =>
    query(
      `${groupAndMember} where m.group_name in ${listed} order by m.group_name, m.session_id`,
      JSON.stringify(groups),
    ),

  describeColumns: () =>
    query(`
      select t.name as table_name, c.name as column_name, c.pk as "key",
        lower(c.type) || coalesce(' collate ' || lower((
          select x.coll from pragma_index_list(t.name) l, pragma_index_xinfo(l.name) x
          where l.origin = 'pk' and x.name = c.name and x.key = 1 and x.coll <> 'BINARY'
        )), '') as type
      from sqlite_master t, pragma_table_info(t.name) c
      where t.type = 'table' and t.name in ('simba_session', 'simba_lease', 'simba_member')
      order by t.name, c.cid`),

  isRetryable,
  explain,
}
