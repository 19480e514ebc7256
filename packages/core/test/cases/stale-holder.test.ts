/** A holder that has lost its lease and does not know, or does not care: what it reads, what its writes come to, and how it leaves. */
import { DatabaseSync } from '@photostructure/sqlite'
import { type Term, TermExpiredError, TermRevokedError } from '@simba/core'
import { describe, expect } from 'vitest'
import { createLedger, readBalance, writeBalance } from '../../../../examples/src/fencing-sql.js'
import { LEASE, RENEW, test, VALID, type World } from '../api/world.js'
import { Oracle } from './oracle.js'

test('work that is deaf to its signal for five leases: its term ends at the deadline to the millisecond, and another leads while it works', async ({
  world,
}) => {
  const oracle = new Oracle(world)
  const a = world.client('a')
  a.election('report').runWhileLeader(async (term) => {
    oracle.watch('a', term)
    await world.time.sleep(5 * LEASE)
  })
  await world.time.settle()
  oracle.compete('b', 'report')
  world.fault({ client: 'a', kind: 'lose-request' })
  const [first] = oracle.terms
  await oracle.pass(VALID - 1)
  expect(first?.term.isValid).toBe(true)
  await world.time.advance(1)
  expect(first?.term.isValid).toBe(false)
  expect(first?.term.signal.aborted).toBe(true)

  await oracle.pass(LEASE - VALID + RENEW)
  expect(oracle.leader).toBe('b')
  expect(a.snapshot().elections[0]?.work).toMatchObject([{ token: first?.term.token }])

  await oracle.pass(3 * LEASE)
  expect(oracle.leader).toBe('b')
  expect(first?.term.isValid).toBe(false)
})

describe('a write that was sent before the holder was cut off, and arrives after its successor has written,', () => {
  type Write = typeof writeBalance

  const plainWrite: Write = (database, token, balance) => {
    const update = database.prepare("update ledger set balance = ?, fencing_token = ? where id = 'main'")
    return Number(update.run(balance, token).changes) === 1
  }

  /** A writes, is cut off, and sends a write that stays on its way until B has written. */
  async function lateWrite(world: World, write: Write) {
    const database = new DatabaseSync(':memory:')
    createLedger(database)
    const oracle = new Oracle(world)
    oracle.compete('a', 'ledger')
    await world.time.advance(1)
    oracle.compete('b', 'ledger')
    const first = oracle.terms[0]?.term.token ?? 0n
    expect(write(database, first, 'by a')).toBe(true)
    world.fault({ client: 'a', kind: 'lose-request' })
    const sent = world.track(world.time.sleep(2 * LEASE).then(() => write(database, first, 'late, by a')))
    await oracle.pass(2 * LEASE - 1_000)
    expect(oracle.leader).toBe('b')
    const second = oracle.terms.at(-1)?.term.token ?? 0n
    expect(second).toBeGreaterThan(first)
    expect(write(database, second, 'by b')).toBe(true)
    await oracle.pass(1_000)
    const balance = readBalance(database)
    database.close()
    return { accepted: sent.value, balance }
  }

  test('is refused by a table with the recipe', async ({ world }) => {
    expect(await lateWrite(world, writeBalance)).toEqual({ accepted: false, balance: 'by b' })
  })

  test('overwrites it without the recipe', async ({ world }) => {
    expect(await lateWrite(world, plainWrite)).toEqual({ accepted: true, balance: 'late, by a' })
  })
})

describe('withLock whose term was lost', () => {
  const exits: readonly {
    readonly how: string
    readonly work: (term: Term) => Promise<unknown>
    readonly error: new (...given: never[]) => Error
  }[] = [
    {
      how: 'returned when its signal aborted',
      work: (term) => term.revoked,
      error: TermRevokedError,
    },
    {
      how: 'threw the reason of its signal',
      work: (term) => term.revoked.then(() => term.signal.throwIfAborted()),
      error: TermRevokedError,
    },
    {
      how: 'was refused by ensureValid',
      work: (term) => term.revoked.then(() => term.ensureValid()),
      error: TermExpiredError,
    },
  ]

  for (const { how, work, error } of exits) {
    test(`rejects within a turn of the event loop after its function ${how}, and sends one release at most`, async ({
      world,
    }) => {
      let aTurnLater: string | undefined
      const running = world.track(
        world
          .client('a')
          .lock('order')
          .withLock((term) => {
            term.signal.addEventListener('abort', () =>
              setImmediate(() => {
                aTurnLater = running.status
              }),
            )
            return work(term)
          }),
      )
      await world.time.settle()
      world.fault({ client: 'a', kind: 'lose-request' })
      await world.time.advance(VALID - 1)
      expect(running.status).toBe('pending')
      const releases = world.callsOf('release', 'a').length
      await world.time.advance(1)
      expect(aTurnLater).toBe('rejected')
      expect(running.error).toBeInstanceOf(error)
      await world.time.advance(4 * LEASE)
      expect(world.callsOf('release', 'a').length - releases).toBeLessThanOrEqual(1)
    })
  }
})
