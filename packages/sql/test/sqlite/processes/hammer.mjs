/** Acquires and releases a lease of its own without a pause, from `{ go: ms }` on; then tells how that went. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { call, listen, openBackend, tell } from './open.mjs'

const [path, driver] = process.argv.slice(2)
const { backend } = await openBackend(path, driver)
const session = { ...(await backend.openSession({ leaseMs: 60_000, metadata: '{}' }, call)), leaseMs: 60_000 }
const name = `hammer-${process.pid}`

listen(async ({ go }) => {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const end = performance.now() + go
  let commits = 0
  let longestMs = 0
  const timed = async (work) => {
    const began = performance.now()
    const result = await work()
    longestMs = Math.max(longestMs, performance.now() - began)
    commits++
    return result
  }
  while (performance.now() < end) {
    const { token } = await timed(() => backend.acquire(session, name, call))
    await timed(() => backend.release(session, name, token, call))
  }
  loop.disable()
  tell({ commits, longestMs: Math.round(longestMs), blockedMs: Math.round(loop.max / 1e6) })
})
tell('ready')
