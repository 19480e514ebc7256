/** What `SqlLeaseBackend.sqlite` may be given, and what it does to it. */
import { statSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { ConfigError } from '@simba/core'
import AsynchronousLibsql from 'libsql/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type SqliteDatabase, SqlLeaseBackend } from '../../src/index.js'
import { expiredSessions } from '../../src/sqlite/statements.js'
import { drivers, openDatabase, temporaryFolder } from './databases.js'

const call = { signal: new AbortController().signal, timeoutMs: 5_000 }

/** As JavaScript would, past the types. */
function given(value: unknown, options?: unknown): () => SqlLeaseBackend {
  const make: (...args: never[]) => SqlLeaseBackend = SqlLeaseBackend.sqlite
  return () => Reflect.apply(make, SqlLeaseBackend, options === undefined ? [value] : [value, options])
}

test.for<[string, unknown, RegExp]>([
  ['nothing', undefined, /was given undefined/],
  ['null', null, /was given null/],
  ['a path', 'leases.db', /was given the text "leases.db"/],
  ['an object', {}, /was given an object/],
  ['a pool', { query() {}, connect() {}, end() {} }, /was given/],
  ['a promise of a database', Promise.resolve(), /was given a Promise/],
  ['a class instead of an object of it', DatabaseSync, /was given/],
])('%s is refused, and the message says what to give', ([, value, message]) => {
  expect(given(value)).toThrow(ConfigError)
  expect(given(value)).toThrow(message)
  expect(given(value)).toThrow(/better-sqlite3 or libsql .*node:sqlite or @photostructure\/sqlite/)
})

test('an asynchronous driver of the same shape is refused', () => {
  const database = new AsynchronousLibsql(':memory:', {})
  onTestFinished(() => database.close())
  expect(given(database)).toThrow(ConfigError)
  expect(given(database)).toThrow(/was given a Database whose methods give promises/)
})

test.for<[unknown, RegExp]>([
  [{ purgeIntervall: '1m' }, /no option "purgeIntervall"; there are: purgeInterval, queryTimeout/],
  [{ purgeInterval: 'soon' }, /purgeInterval/],
  [{ queryTimeout: -1 }, /queryTimeout/],
  ['1m', /takes its options as an object/],
])('the options %j are refused', ([options, message]) => {
  expect(given(new DatabaseSync(':memory:'), options)).toThrow(ConfigError)
  expect(given(new DatabaseSync(':memory:'), options)).toThrow(message)
})

describe.for(Object.keys(drivers))('with %s', (driver) => {
  const open = (): SqliteDatabase & { close(): unknown } =>
    openDatabase(`${temporaryFolder()}/shared.db`, driver)

  test('making a backend leaves no trace in the file', () => {
    const path = `${temporaryFolder()}/shared.db`
    const database = openDatabase(path, driver)
    const before = statSync(path, { throwIfNoEntry: false })?.size
    SqlLeaseBackend.sqlite(database)
    expect(statSync(path, { throwIfNoEntry: false })?.size).toBe(before)
    const [mode] = database.prepare('pragma journal_mode').all()
    expect(mode).toMatchObject({ journal_mode: 'delete' })
  })

  test('a database that is closed already is refused', () => {
    const database = open()
    database.close()
    expect(given(database)).toThrow(ConfigError)
    expect(given(database)).toThrow(/was given a Database\w* that is closed\. Give it an open database/)
  })

  test('one that is closed later is told by each call', async () => {
    const database = open()
    const backend = SqlLeaseBackend.sqlite(database)
    database.close()
    await expect(backend.createSchema()).rejects.toThrow(/the application has closed the database/)
    await expect(backend.members('g', call)).rejects.toThrow(/the application has closed the database/)
  })

  test('the database stays open, and nothing is left running, when the backend is closed', async () => {
    const database = open()
    const backend = SqlLeaseBackend.sqlite(database)
    await backend.createSchema()
    await backend.close()
    await backend.close()
    await expect(backend.members('g', call)).resolves.toEqual([])
    expect(() => database.exec('select 1')).not.toThrow()
  })

  test('a commit is on the disk before it is answered', async () => {
    const database = open()
    database.exec('pragma synchronous = off')
    const backend = SqlLeaseBackend.sqlite(database)
    await backend.createSchema()
    const [row] = database.prepare('pragma synchronous').all()
    expect(row).toMatchObject({ synchronous: 2 })
    const [mode] = database.prepare('pragma journal_mode').all()
    expect(mode).toMatchObject({ journal_mode: 'wal' })
  })

  test('tokens beyond 2^53 are exact', async () => {
    const database = open()
    const backend = SqlLeaseBackend.sqlite(database)
    await backend.createSchema()
    database.exec(`insert into simba_lease (name, session_id, token) values ('big', '', ${2n ** 60n + 1n})`)
    const opened = await backend.openSession({ leaseMs: 10_000, metadata: '' }, call)
    const session = { ...opened, leaseMs: 10_000 }
    expect(await backend.acquire(session, 'big', call)).toEqual({ kind: 'granted', token: 2n ** 60n + 2n })
    expect(await backend.keepAlive(session, call)).toMatchObject({
      owned: [{ name: 'big', token: 2n ** 60n + 2n }],
    })
    await backend.release(session, 'big', 2n ** 60n + 1n, call)
    expect(await backend.keepAlive(session, call)).toMatchObject({ owned: [{ name: 'big' }] })
    await backend.release(session, 'big', 2n ** 60n + 2n, call)
    expect(await backend.keepAlive(session, call)).toMatchObject({ owned: [] })
  })

  test('a transaction that the application has left open is told, and not taken part in', async () => {
    const database = open()
    const backend = SqlLeaseBackend.sqlite(database)
    await backend.createSchema()
    database.exec('begin')
    await expect(backend.members('g', { ...call, timeoutMs: 50 })).rejects.toThrow(
      /gave up after \d+ ms: .*give Simba a connection of its own/,
    )
    database.exec('rollback')
    await expect(backend.members('g', call)).resolves.toEqual([])
  })
})

describe('purgeExpired()', () => {
  test('deletes up to 1000 expired sessions and their memberships, and nothing else', async () => {
    const database = new DatabaseSync(':memory:')
    const backend = SqlLeaseBackend.sqlite(database, { purgeInterval: '1h' })
    await backend.createSchema()
    const alive = await backend.openSession({ leaseMs: 60_000, metadata: '' }, call)
    await backend.join({ ...alive, leaseMs: 60_000 }, 'g', call)
    database.exec(`
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 1500)
      insert into simba_session (session_id, expires_at) select 'old' || i, i from n;
      insert into simba_member (group_name, session_id) select 'g', session_id from simba_session where expires_at < 10000;
      insert into simba_lease (name, session_id, token) values ('kept', 'old1', 7)`)
    expect(await backend.purgeExpired()).toBe(1000)
    expect(await backend.purgeExpired()).toBe(500)
    expect(await backend.purgeExpired()).toBe(0)
    const count = (table: string) => database.prepare(`select count(*) as n from ${table}`).get()
    expect(count('simba_session')).toEqual({ n: 1 })
    expect(count('simba_member')).toEqual({ n: 1 })
    expect(await backend.acquire({ ...alive, leaseMs: 60_000 }, 'kept', call)).toEqual({
      kind: 'granted',
      token: 8n,
    })
  })

  test('finds them by the index', () => {
    const database = new DatabaseSync(':memory:')
    database.exec(SqlLeaseBackend.sqlite(database).schema)
    const { sql, parameters } = expiredSessions(1000)
    const plan = database.prepare(`explain query plan ${sql}`).all(...parameters)
    expect(JSON.stringify(plan)).toMatch(
      /SEARCH simba_session USING .*INDEX idx_session_expires \(expires_at</,
    )
  })
})
