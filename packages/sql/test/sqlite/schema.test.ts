/** The tables: made, printed, and recognised. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, test } from 'vitest'
import { SqlLeaseBackend } from '../../src/index.js'
import { openDatabase, temporaryFolder } from './databases.js'

const call = { signal: new AbortController().signal, timeoutMs: 5_000 }

function objectsOf(database: InstanceType<typeof DatabaseSync>): readonly unknown[] {
  return database
    .prepare("select type, name, sql from sqlite_master where name not like 'sqlite_%' order by name")
    .all()
}

describe('the printed DDL', () => {
  const printed = readFileSync(new URL('../../schema/sqlite.sql', import.meta.url), 'utf8')

  test('makes what createSchema() makes', async () => {
    const [made, run] = [new DatabaseSync(':memory:'), new DatabaseSync(':memory:')]
    await SqlLeaseBackend.sqlite(made).createSchema()
    run.exec(printed)
    expect(objectsOf(run)).toEqual(objectsOf(made))
    expect(objectsOf(run)).toHaveLength(6)
  })

  test('is what the backend shows', () => {
    expect(SqlLeaseBackend.sqlite(new DatabaseSync(':memory:')).schema).toBe(printed)
  })
})

describe('createSchema()', () => {
  test('may be called again, and by many at once', async () => {
    const path = join(temporaryFolder(), 'shared.db')
    const backends = Array.from({ length: 10 }, () => SqlLeaseBackend.sqlite(openDatabase(path)))
    await Promise.all(backends.map((backend) => backend.createSchema()))
    await Promise.all(backends.map((backend) => backend.createSchema()))
    await expect(backends[0]?.openSession({ leaseMs: 1_000, metadata: '' }, call)).resolves.toMatchObject({
      remainingMs: 1_000,
    })
  })

  test('leaves alone what else is in the database, user_version included', async () => {
    const database = new DatabaseSync(':memory:')
    database.exec('create table orders (id integer primary key) strict; pragma user_version = 17')
    await SqlLeaseBackend.sqlite(database).createSchema()
    expect(database.prepare('pragma user_version').get()).toEqual({ user_version: 17 })
    expect(objectsOf(database)).toContainEqual(expect.objectContaining({ name: 'orders' }))
  })

  test('accepts tables with more columns and indexes than it needs', async () => {
    const database = new DatabaseSync(':memory:')
    const backend = SqlLeaseBackend.sqlite(database)
    await backend.createSchema()
    database.exec("alter table simba_lease add column note text not null default ''")
    database.exec('create index by_token on simba_lease (token)')
    await expect(backend.createSchema()).resolves.toBeUndefined()
    await expect(backend.members('group', call)).resolves.toEqual([])
  })
})

describe.for([
  [
    'a missing table',
    'drop table simba_member',
    /simba_member is not in .*call createSchema\(\) once, or run\ncreate table/s,
  ],
  [
    'a table of another application',
    'drop table simba_lease; create table simba_lease (name text primary key, owner text) strict',
    /not Simba's: simba_lease.session_id is missing; simba_lease.token is missing/,
  ],
  [
    'a column of another type',
    "drop table simba_lease; create table simba_lease (name text primary key, session_id text not null default '', token text not null) strict",
    /simba_lease.token is text instead of integer/,
  ],
  [
    'a table without its primary key',
    'drop table simba_member; create table simba_member (group_name text not null, session_id text not null) strict',
    /simba_member.group_name is text instead of text \(primary key 1\)/,
  ],
] as const)('%s', ([, change, message]) => {
  test('is told by the first call, with the DDL', async () => {
    const database = new DatabaseSync(':memory:')
    const backend = SqlLeaseBackend.sqlite(database)
    database.exec(backend.schema)
    database.exec(change)
    const failure = backend.acquire({ id: 's', leaseMs: 1_000 }, 'a', call)
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.toThrow(/^sqlite: acquire "a" failed/)
    await expect(failure).rejects.toThrow(backend.schema)
  })
})
