/** The tables of MySQL and MariaDB. */
import type { Tables } from '../shape.js'

/** `ci` marks a column whose comparisons are not those of bytes. */
export const tables: Tables = {
  simba_session: {
    session_id: { type: ['char(32)', 'varchar(32)'], key: 1 },
    expires_at: { type: 'bigint', key: 0 },
    metadata: { type: ['varchar(1024)', 'varchar(1024) ci'], key: 0 },
  },
  simba_lease: {
    name: { type: 'varchar(128)', key: 1 },
    session_id: { type: ['char(32)', 'varchar(32)'], key: 0 },
    token: { type: 'bigint', key: 0 },
  },
  simba_member: {
    group_name: { type: 'varchar(128)', key: 1 },
    session_id: { type: ['char(32)', 'varchar(32)'], key: 2 },
  },
}

/** The DDL, for the database given or that of the connection. */
export function ddlIn(schema: string | undefined): string {
  const prefix = prefixOf(schema)
  return `create table if not exists ${prefix}simba_session
(
    session_id char(32) character set ascii collate ascii_bin not null primary key,
    expires_at bigint                                         not null comment 'database time, epoch ms',
    metadata   varchar(1024) character set utf8mb4            not null default '',
    index idx_session_expires (expires_at)
) engine = InnoDB;

create table if not exists ${prefix}simba_lease
(
    name       varchar(128) character set ascii collate ascii_bin not null primary key,
    session_id char(32) character set ascii collate ascii_bin     not null default '' comment 'empty = free',
    token      bigint                                             not null comment 'term number, never reset',
    index idx_lease_session (session_id)
) engine = InnoDB;

create table if not exists ${prefix}simba_member
(
    group_name varchar(128) character set utf8mb4 collate utf8mb4_bin not null,
    session_id char(32) character set ascii collate ascii_bin         not null,
    primary key (group_name, session_id),
    index idx_member_session (session_id)
) engine = InnoDB;
`
}

export function prefixOf(schema: string | undefined): string {
  return schema === undefined ? '' : `\`${schema.replaceAll('`', '``')}\`.`
}
