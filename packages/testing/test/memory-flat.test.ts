import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { call, leaseMs, opened, world } from './calls.js'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

it('memory stays flat over 100,000 names, groups and watched topics', { timeout: 30_000 }, async () => {
  using w = world()
  const session = await opened(w.backend)
  const hints = w.backend.hints(() => {})
  const use = async (name: string) => {
    hints.watch({ kind: 'lease', name })
    const reply = await w.backend.acquire(session, name, call())
    if (reply.kind === 'granted') await w.backend.release(session, name, reply.token, call())
    hints.unwatch({ kind: 'lease', name })
    await w.backend.join(session, name, call())
    await w.backend.leave(session, name, call())
  }
  for (let i = 0; i < 1000; i++) await use(`warm-up-${i}`)
  const before = heapBytes()
  for (let i = 0; i < 100_000; i++) await use(`name-${i}`)
  expect(heapBytes() - before).toBeLessThan(1_000_000)
})

it('memory stays flat over 100,000 sessions that nobody closed, with what they held', {
  timeout: 30_000,
}, async () => {
  using w = world()
  const abandon = async (name: string) => {
    const session = await opened(w.backend)
    await w.backend.acquire(session, name, call())
    await w.backend.join(session, 'g', call())
    w.time.jump(leaseMs / 4)
  }
  for (let i = 0; i < 1000; i++) await abandon(`warm-up-${i}`)
  const before = heapBytes()
  for (let i = 0; i < 100_000; i++) await abandon(`name-${i}`)
  expect(heapBytes() - before).toBeLessThan(1_000_000)
})

it('memory stays flat over 100,000 timers set and cancelled, and calls given up', {
  timeout: 30_000,
}, async () => {
  using w = world()
  const session = await opened(w.backend)
  w.backend.faults.add({ kind: 'lose-reply' })
  const giveUp = async () => {
    w.time.setTimer(() => {}, 1e9)()
    const controller = new AbortController()
    const lost = w.backend.keepAlive(session, { signal: controller.signal, timeoutMs: 500 })
    controller.abort(new Error('no longer'))
    await lost.catch(() => {})
  }
  for (let i = 0; i < 1000; i++) await giveUp()
  const before = heapBytes()
  for (let i = 0; i < 100_000; i++) await giveUp()
  expect(heapBytes() - before).toBeLessThan(1_000_000)
})
