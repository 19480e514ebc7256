/** The backend's clock is set: what holders and candidates see, as docs/operations.md says. */
import type { Election } from '@simba/core'
import { MemoryLeaseBackend } from '@simba/testing'
import { expect } from 'vitest'
import { LEASE, RENEW, test, type World } from '../api/world.js'

/** Two clients that want one lease, at a backend with a clock of its own; `a` leads. */
async function stage(world: World) {
  const clock = world.time.clock()
  const backend = new MemoryLeaseBackend({ clock })
  const elections = new Map<string, Election>()
  const tokens = new Map<string, bigint[]>()
  for (const id of ['a', 'b']) {
    const own: bigint[] = []
    tokens.set(id, own)
    const election = world.client(id, { backend: backend.connect(id) }).election('report')
    elections.set(id, election)
    election.start({ onElected: (term) => void own.push(term.token) })
    if (id === 'a') await world.time.advance(1)
  }
  await world.time.advance(RENEW)
  const led = (id: string) => tokens.get(id) ?? []
  expect(led('a')).toHaveLength(1)
  return {
    clock,
    led,
    isLeading: (id: string) => elections.get(id)?.term?.isValid ?? false,
    disconnect: (client: string) => backend.faults.add({ client, kind: 'lose-request' }),
  }
}

test('set back: the holder goes on, and once it has renewed a crash costs no more than ever', async ({
  world,
}) => {
  const { clock, isLeading, led, disconnect } = await stage(world)
  clock.jump(-60_000)
  await world.time.advance(3 * LEASE)
  expect(isLeading('a')).toBe(true)
  disconnect('a')
  await world.time.advance(LEASE + RENEW)
  expect(isLeading('a')).toBe(false)
  expect(led('b')).toHaveLength(1)
})

test('set back just before the holder dies: nobody takes over for that much longer', async ({ world }) => {
  const { clock, isLeading, led, disconnect } = await stage(world)
  disconnect('a')
  clock.jump(-60_000)
  await world.time.advance(60_000)
  expect(isLeading('a')).toBe(false)
  expect(led('b')).toHaveLength(0)
  await world.time.advance(LEASE + RENEW)
  expect(led('b')).toHaveLength(1)
})

test('set forward: another may lead at once, with a higher token, and the holder learns it at its next call', async ({
  world,
}) => {
  const { clock, isLeading, led } = await stage(world)
  clock.jump(60_000)
  await world.time.advance(RENEW)
  expect(isLeading('a')).toBe(false)
  expect(world.published('Revoked', 'a')).toMatchObject([{ reason: 'SESSION_EXPIRED' }])
  expect(Math.max(...[...led('a').slice(1), ...led('b')].map(Number))).toBeGreaterThan(Number(led('a')[0]))
})
