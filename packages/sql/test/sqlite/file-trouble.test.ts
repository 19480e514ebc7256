/** What can happen to the file: each is told in words, terms end by their deadline, and leading goes on once it is over. */
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { Simba } from '@simba/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SqlLeaseBackend } from '../../src/index.js'
import { drivers, openDatabase, temporaryFolder } from './databases.js'

const LEASE_MS = 900

interface Leader {
  readonly path: string
  readonly database: { exec(sql: string): unknown }
  readonly simba: Simba
  /** The messages of failed calls. */
  readonly failures: string[]
}

async function leader(driver: string): Promise<Leader> {
  const path = join(temporaryFolder(), 'shared.db')
  const database = openDatabase(path, driver)
  const backend = SqlLeaseBackend.sqlite(database)
  await backend.createSchema()
  const simba = new Simba({ backend, leaseDuration: LEASE_MS, logger: { warn() {}, error() {} } })
  onTestFinished(() => simba.close({ force: true }))
  const failures: string[] = []
  simba.subscribe((event) => {
    if (event.type === 'BackendCallFailed') failures.push(event.error.message)
  })
  simba.election('report').start()
  await leads(simba)
  return { path, database, simba, failures }
}

async function leads(simba: Simba): Promise<void> {
  await vi.waitFor(() => expect(simba.election('report').term?.isValid).toBe(true), { timeout: 10_000 })
}

/** Each does it, and returns the way back. */
const troubles: {
  readonly [what: string]: { readonly message: RegExp; readonly cause: (leader: Leader) => () => void }
} = {
  'the disk is full': {
    message: /there is no room left for the file; free some, or raise its limit/,
    cause: ({ database }) => {
      // As small as it is, and a session's row that needs more.
      database.exec('pragma max_page_count = 1')
      database.exec(
        `create trigger growing before update on simba_session begin
           insert into simba_member (group_name, session_id) values (hex(randomblob(100000)), hex(randomblob(16)));
         end`,
      )
      return () => {
        database.exec('drop trigger growing')
        database.exec('pragma max_page_count = 1000000')
      }
    },
  },
  'the file is deleted': {
    message: /was deleted or moved while the connection was open/,
    cause: ({ path }) => {
      renameSync(path, `${path}.away`)
      return () => renameSync(`${path}.away`, path)
    },
  },
  'the file is replaced by another': {
    message: /was replaced by another file while the connection was open/,
    cause: ({ path }) => {
      renameSync(path, `${path}.away`)
      writeFileSync(path, '')
      return () => renameSync(`${path}.away`, path)
    },
  },
  'its folder is moved away': {
    message: /was deleted or moved while the connection was open/,
    cause: ({ path }) => {
      const folder = dirname(path)
      renameSync(folder, `${folder}.away`)
      return () => renameSync(`${folder}.away`, folder)
    },
  },
  'the -wal file is deleted': {
    message: /-wal was deleted or moved while the connection was open/,
    cause: ({ path }) => {
      renameSync(`${path}-wal`, `${path}-wal.away`)
      return () => renameSync(`${path}-wal.away`, `${path}-wal`)
    },
  },
  'a table is dropped': {
    message: /simba_session is not in .*call createSchema\(\) once, or run/s,
    cause: ({ database }) => {
      database.exec('alter table simba_session rename to gone')
      return () => database.exec('alter table gone rename to simba_session')
    },
  },
}

describe.for(Object.keys(drivers))('with %s', (driver) => {
  test.for(Object.entries(troubles))(
    '%s: the term ends by its deadline, and another begins when that is over',
    { timeout: 30_000 },
    async ([, { message, cause }]) => {
      const leading = await leader(driver)
      const { simba, failures } = leading
      const term = simba.election('report').term
      const undo = cause(leading)
      expect(await term?.revoked).toBe('DEADLINE_PASSED')
      expect(failures.find((failure) => message.test(failure))).toBeDefined()
      undo()
      await leads(simba)
      expect(simba.election('report').term?.token).toBeGreaterThan(term?.token ?? 0n)
    },
  )
})

test('two processes never use two files under one name', async () => {
  const path = join(temporaryFolder(), 'shared.db')
  const [one, other] = [openDatabase(path), openDatabase(path)]
  const backends = [one, other].map((database) => SqlLeaseBackend.sqlite(database))
  await backends[0]?.createSchema()
  rmSync(path)
  const call = { signal: new AbortController().signal, timeoutMs: 1_000 }
  // One that has not made a call yet does not get by either.
  await expect(backends[1]?.openSession({ leaseMs: 1_000, metadata: '' }, call)).rejects.toThrow(
    /was deleted or moved/,
  )
})

test('what is no database says so', async () => {
  const path = join(temporaryFolder(), 'letter.txt')
  writeFileSync(path, 'Dear reader, this is no database. '.repeat(200))
  const backend = SqlLeaseBackend.sqlite(openDatabase(path))
  await expect(backend.createSchema()).rejects.toThrow(
    /the file is no SQLite database, or is encrypted; give one that is/,
  )
})

test('a connection that may only read says what to do', async () => {
  const path = join(temporaryFolder(), 'shared.db')
  await SqlLeaseBackend.sqlite(openDatabase(path)).createSchema()
  chmodSync(path, 0o444)
  const database = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => database.close())
  const call = { signal: new AbortController().signal, timeoutMs: 1_000 }
  const opening = SqlLeaseBackend.sqlite(database).openSession({ leaseMs: 1_000, metadata: '' }, call)
  await expect(opening).rejects.toThrow(/cannot be written to; open the database for writing/)
})
