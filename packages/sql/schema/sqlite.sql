create table if not exists simba_session
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
