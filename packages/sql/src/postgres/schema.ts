/** The tables of PostgreSQL. Session ids may be in columns of type `char(32)`, which give the empty one as 32 spaces. */
import type { Tables } from '../shape.js'
import { identifier } from './literals.js'

const session = { type: ['character(32)', 'character varying(32)'] } as const
const name = { type: ['character varying(128)'] } as const

export const tables: Tables = {
  simba_session: {
    session_id: { ...session, key: 1 },
    expires_at: { type: 'bigint', key: 0 },
    metadata: { type: ['character varying(1024)', 'text'], key: 0 },
  },
  simba_lease: {
    name: { ...name, key: 1 },
    session_id: { ...session, key: 0 },
    token: { type: 'bigint', key: 0 },
  },
  simba_member: {
    group_name: { ...name, key: 1 },
    session_id: { ...session, key: 2 },
  },
}

/** The DDL, for the schema given or that of the connection. */
export function ddlIn(schema: string | undefined): string {
  const prefix = prefixOf(schema)
  return `create table if not exists ${prefix}simba_session
(
    session_id char(32) collate "C" not null primary key,
    expires_at bigint               not null, -- database time, epoch ms
    metadata   varchar(1024)        not null default ''
);

create index if not exists idx_session_expires on ${prefix}simba_session (expires_at);

create table if not exists ${prefix}simba_lease
(
    name       varchar(128) collate "C" not null primary key,
    session_id char(32) collate "C"     not null default '', -- '' = free
    token      bigint                   not null -- term number, never reset; rows are never deleted
);

create index if not exists idx_lease_session on ${prefix}simba_lease (session_id);

create table if not exists ${prefix}simba_member
(
    group_name varchar(128) collate "C" not null,
    session_id char(32) collate "C"     not null,
    primary key (group_name, session_id)
);

create index if not exists idx_member_session on ${prefix}simba_member (session_id);
`
}

export function prefixOf(schema: string | undefined): string {
  return schema === undefined ? '' : `${identifier(schema)}.`
}
