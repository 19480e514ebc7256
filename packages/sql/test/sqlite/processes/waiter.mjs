/** Waits for a lease as a candidate does; tells the time of each hint, and on `{ cpu: true }` how much CPU time it has used. */
import { call, listen, openBackend, tell } from './open.mjs'

const [path, name, driver] = process.argv.slice(2)
const { backend } = await openBackend(path, driver)
const session = { ...(await backend.openSession({ leaseMs: 60_000, metadata: '{}' }, call)), leaseMs: 60_000 }
await backend.acquire(session, name, call)

const subscription = backend.hints((hint) => tell({ hint, at: Number(process.hrtime.bigint()) / 1e6 }))
subscription.watch({ kind: 'lease', name })

const renewing = setInterval(() => backend.keepAlive(session, call), 5000)
renewing.unref()

listen(() => tell({ cpuMs: process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3 }))
tell('ready')
