/**
 * What is said to PostgreSQL.
 *
 * Times are the database's: epoch ms in UTC, read while a row is looked at, so that a decision that had to wait for a lock is made by the
 * time after the wait. Tokens are given as text, exact whatever the driver makes of a bigint. Session ids may be in columns of type
 * `char(32)`, which give the empty one as 32 spaces.
 */
import { createHash } from 'node:crypto'
import { channelOfGroup, channelOfLease } from './channels.js'
import { text, whole } from './literals.js'
import type { Prepared } from './pool.js'
import { prefixOf, tables } from './schema.js'

const now = '(floor(extract(epoch from clock_timestamp()) * 1000))::bigint'

const SESSION = 'char(32)'
const NAME = 'varchar'

/** Statements for the tables of one schema. Where there are several, they are sent as one message. */
export interface PostgresStatements {
  insertSession(id: string, leaseMs: number, metadata: string): string

  /**
   * Grants a lease that is free or new, and otherwise tells how things are. No session's row is locked: that the own one lives, or that
   * of the holder, may be taken from what is committed, since a session that lives by that can only be closed by its own client. That
   * one does *not* live may not: a renewal may be under way. Then the answer is no grant, and `settle` finds out.
   *
   * Row: `granted` and `granted_live`, or `holder` and `token` if there is the lease, with `held_ms`, and `live_ms` of the own session.
   */
  readonly acquire: Prepared

  /**
   * The same, with everything locked that the decision rests on before it is made: the lease, then the sessions. The last statement's
   * row tells who owns the lease: `holder`, `token`, and `live_ms` of the own session.
   */
  settle(id: string, lease: string): readonly string[]

  /**
   * Locks the session's row, and judges after the wait: a takeover holds it while it decides. Rows of the second: none if the session
   * has expired. Rows of the third: `name`, `token`.
   */
  keepAlive(id: string, leaseMs: number): readonly string[]

  /** Leases before the session, as in `settle`; memberships after it, so that none comes in between. */
  closeSession(id: string): readonly string[]

  readonly release: Prepared

  /** Row of the last: `live_ms`. The session's row is kept from being deleted meanwhile. */
  join(group: string, id: string): readonly string[]
  readonly leave: Prepared
  /** Rows: `session_id`. */
  readonly members: Prepared

  /** Row: `purged`. Sessions that somebody holds a lock on are left for the next time. */
  purge(limit: number): string

  /** Rows: `session_id`, `remaining_ms`, `metadata` of live sessions; with a lease given, of its holder only. */
  inspectSessions(lease?: string): string
  /** Rows: `name`, `token`, `session_id`: that of a live session or `''`. */
  inspectLeases(lease?: string): string
  /** Rows: `group_name`, `session_id` of live members, ordered by group. */
  inspectMembers(): string

  /** Nobody else makes the tables meanwhile: `if not exists` alone fails if two do so at once. */
  lockSchema(): string
  /** Rows: `table_name`, `column_name`, `type`, `key` of the tables that are there. */
  describeColumns(): string
}

export function statementsIn(schema: string | undefined): PostgresStatements {
  const prefix = prefixOf(schema)
  const [sessions, leases, members] = ['simba_session', 'simba_lease', 'simba_member'].map(
    (table) => `${prefix}${table}`,
  )
  const live = `s.expires_at > ${now}`

  const released = (from: string) =>
    `pg_notify(${channelOfLease(`${from}.name`)}, 'released ' || ${from}.name)`
  const changed = (from: string) =>
    `pg_notify(${channelOfGroup(`${from}.group_name`)}, 'members ' || ${from}.group_name)`

  return {
    insertSession: (id: string, leaseMs: number, metadata: string) =>
      `insert into ${sessions} (session_id, expires_at, metadata) values (${text(id)}, ${now} + ${whole(leaseMs)}, ${text(metadata)}) returning 1`,

    acquire: prepared(
      'acquire',
      [NAME, SESSION],
      `with
  lease as materialized (
    select l.session_id, l.token, h.expires_at from ${leases} l left join ${sessions} h on h.session_id = l.session_id
    where l.name = $1
  ),
  me as materialized (select s.expires_at from ${sessions} s where s.session_id = $2),
  created as (
    insert into ${leases} (name, session_id, token)
    select $1, $2, 1 from me where me.expires_at > ${now} and not exists (select from lease)
    on conflict (name) do nothing
    returning token, (select expires_at from me) > ${now} as live
  ),
  taken as (
    update ${leases} l set token = l.token + 1, session_id = $2
    from lease, me
    where l.name = $1 and lease.session_id = '' and l.session_id = '' and me.expires_at > ${now}
    returning l.token, (select expires_at from me) > ${now} as live
  )
select
  g.token::text as granted, g.live as granted_live,
  lease.session_id as holder, lease.token::text as token,
  (lease.expires_at - ${now})::text as held_ms, (me.expires_at - ${now})::text as live_ms
from (select) one
  left join lease on true
  left join me on true
  left join (select * from created union all select * from taken) g on true`,
    ),

    settle: (id: string, lease: string) => [
      `insert into ${leases} (name, session_id, token)
       select ${text(lease)}, ${text(id)}, 1 from ${sessions} s where s.session_id = ${text(id)} and ${live}
       on conflict (name) do nothing returning 1`,
      `select 1 from ${leases} where name = ${text(lease)} for update`,
      `select 1 from ${sessions} where session_id in (
         ${text(id)}, (select session_id from ${leases} where name = ${text(lease)})
       ) order by session_id for share`,
      `update ${leases} l set token = l.token + 1, session_id = ${text(id)}
       where l.name = ${text(lease)} and l.session_id <> ${text(id)}
         and exists (select from ${sessions} s where s.session_id = ${text(id)} and ${live})
         and not exists (select from ${sessions} s where s.session_id = l.session_id and ${live})
       returning 1`,
      `select l.session_id as holder, l.token::text as token, (me.expires_at - ${now})::text as live_ms
       from (select) one
         left join ${leases} l on l.name = ${text(lease)}
         left join ${sessions} me on me.session_id = ${text(id)}`,
    ],

    keepAlive: (id: string, leaseMs: number) => [
      `select 1 from ${sessions} where session_id = ${text(id)} for update`,
      `update ${sessions} s set expires_at = ${now} + ${whole(leaseMs)} where s.session_id = ${text(id)} and ${live}
       returning 1`,
      `select name, token::text as token from ${leases} where session_id = ${text(id)}`,
    ],

    closeSession: (id: string) => [
      `with freed as (update ${leases} set session_id = '' where session_id = ${text(id)} returning name)
       select ${released('freed')} from freed`,
      `delete from ${sessions} where session_id = ${text(id)} returning 1`,
      `with gone as (delete from ${members} where session_id = ${text(id)} returning group_name)
       select ${changed('gone')} from gone`,
    ],

    release: prepared(
      'release',
      [NAME, SESSION, 'bigint'],
      `with freed as (
  update ${leases} set session_id = '' where name = $1 and session_id = $2 and token = $3 returning name
)
select ${released('freed')} from freed`,
    ),

    join: (group: string, id: string) => [
      `select 1 from ${sessions} where session_id = ${text(id)} for share`,
      `with added as (
         insert into ${members} (group_name, session_id)
         select ${text(group)}, s.session_id from ${sessions} s where s.session_id = ${text(id)} and ${live}
         on conflict do nothing returning group_name
       )
       select ${changed('added')} from added`,
      `select (s.expires_at - ${now})::text as live_ms from ${sessions} s where s.session_id = ${text(id)}`,
    ],

    leave: prepared(
      'leave',
      [NAME, SESSION],
      `with gone as (delete from ${members} where group_name = $1 and session_id = $2 returning group_name)
select ${changed('gone')} from gone`,
    ),

    members: prepared(
      'members',
      [NAME],
      `select m.session_id from ${members} m join ${sessions} s on s.session_id = m.session_id and ${live}
where m.group_name = $1`,
    ),

    purge: (limit: number) =>
      `with gone as materialized (
         select session_id from ${sessions} where expires_at <= ${now} order by expires_at limit ${whole(limit)}
         for update skip locked
       ),
       left_groups as (delete from ${members} where session_id in (select session_id from gone)),
       deleted as (delete from ${sessions} where session_id in (select session_id from gone) returning 1)
       select count(*)::text as purged from deleted`,

    inspectSessions: (lease?: string) =>
      `select s.session_id, (s.expires_at - ${now})::text as remaining_ms, s.metadata from ${sessions} s where ${live}${
        lease === undefined
          ? ''
          : ` and s.session_id = (select session_id from ${leases} where name = ${text(lease)})`
      }`,
    inspectLeases: (lease?: string) =>
      `select l.name, l.token::text as token, coalesce(s.session_id, '') as session_id
       from ${leases} l left join ${sessions} s on s.session_id = l.session_id and ${live}
       ${lease === undefined ? '' : `where l.name = ${text(lease)}`} order by l.name`,
    inspectMembers: () =>
      `select m.group_name, m.session_id from ${members} m join ${sessions} s on s.session_id = m.session_id and ${live}
       order by m.group_name, m.session_id`,

    lockSchema: () => `select pg_advisory_xact_lock(${SCHEMA_LOCK})`,
    describeColumns: () =>
      `select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, a.atttypmod) as type,
         (coalesce(array_position(i.indkey::int2[], a.attnum), -1) + 1)::text as key
       from pg_class c
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         left join pg_index i on i.indrelid = c.oid and i.indisprimary
       where c.oid in (${Object.keys(tables)
         .map((table) => `to_regclass(${text(`${prefix}${table}`)})`)
         .join(', ')})`,
  }
}

/** Any number will do that nobody else uses. */
const SCHEMA_LOCK = '5215742617'

function prepared(what: string, types: readonly string[], sql: string): Prepared {
  const version = createHash('sha256').update(sql).digest('hex').slice(0, 8)
  return { name: `simba_${what}_${version}`, types, text: sql }
}
