/** The recipes pass the suite for fenced resources; the same without their check fail it. */
import { DatabaseSync } from '@photostructure/sqlite'
import { type FencedResource, type FencingSpecOptions, fencingSpec } from '@simba/tck'
import { describe, expect, it, test } from 'vitest'
import { FencedSink, FencedValue } from '../src/fencing-in-process.js'
import { createLedger, readBalance, transfer, writeBalance } from '../src/fencing-sql.js'

type Write = typeof writeBalance

function ledger(write: Write): FencedResource {
  const database = new DatabaseSync(':memory:')
  createLedger(database)
  return {
    write: async (token, value) => write(database, token, value),
    read: async () => readBalance(database),
  }
}

const recipes: readonly FencingSpecOptions[] = [
  { name: 'a conditional update', create: () => ledger(writeBalance) },
  {
    name: 'a transaction that begins with one',
    create: () =>
      ledger((database, token, balance) => {
        database.exec('create table if not exists entry (text text)')
        return transfer(database, token, balance, [`now ${balance}`])
      }),
  },
  {
    name: 'a value in the process',
    create: () => {
      const fenced = new FencedValue()
      return { write: async (token, value) => fenced.write(token, value), read: async () => fenced.value }
    },
  },
  {
    name: 'a sink in the process that takes a while',
    create: () => sink(() => {}),
  },
]

function sink(sent: (value: string) => void): FencedResource {
  let last: string | undefined
  const fenced = new FencedSink(async (value) => {
    await Promise.resolve()
    last = value
    sent(value)
  })
  return { write: (token, value) => fenced.write(token, value), read: async () => last }
}

for (const recipe of recipes) fencingSpec({ ...recipe, runner: { describe, it } })

const broken: readonly FencingSpecOptions[] = [
  {
    name: 'an update without the check',
    create: () =>
      ledger((database, token, balance) => {
        database
          .prepare("update ledger set balance = ?, fencing_token = ? where id = 'main'")
          .run(balance, token)
        return true
      }),
  },
  {
    name: 'a check that refuses an equal token',
    create: () =>
      ledger((database, token, balance) => {
        const { changes } = database
          .prepare("update ledger set balance = ?, fencing_token = ? where id = 'main' and fencing_token < ?")
          .run(balance, token, token)
        return Number(changes) === 1
      }),
  },
  {
    name: 'a check that is another step than the write',
    create: () => {
      let highest = 0n
      let value: string | undefined
      return {
        async write(token, text) {
          if (token < highest) return false
          await new Promise(setImmediate)
          highest = token
          value = text
          return true
        },
        read: async () => value,
      }
    },
  },
  {
    name: 'a value in the process without the check',
    create: () => {
      let value: string | undefined
      return {
        async write(_, text) {
          value = text
          return true
        },
        read: async () => value,
      }
    },
  },
]

test.for(broken)('$name fails the suite', async (recipe) => {
  const failures: string[] = []
  const cases: Promise<void>[] = []
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (title: string, body: () => unknown) => {
      const run = async () => void (await body())
      cases.push(run().catch(() => void failures.push(title)))
    },
  }
  fencingSpec({ ...recipe, runner, log: () => {} })
  await Promise.all(cases)
  expect(cases.length).toBeGreaterThan(10)
  expect(failures).not.toEqual([])
})

test('a refused transaction leaves nothing behind', () => {
  const database = new DatabaseSync(':memory:')
  createLedger(database)
  database.exec('create table entry (text text)')
  expect(transfer(database, 8n, 'new', ['by 8'])).toBe(true)
  expect(transfer(database, 7n, 'old', ['by 7'])).toBe(false)
  expect(database.prepare('select text from entry').all()).toEqual([{ text: 'by 8' }])
  expect(readBalance(database)).toBe('new')
})
