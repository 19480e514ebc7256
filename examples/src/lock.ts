/** Waits for a lock, holds it for two seconds, and gives it back at the end of the block, however that is left. */
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from './open.js'

const simba = await open()
try {
  await using held = await simba.lock('example').acquire({ timeout: '10s' })
  console.log(`holds the lock with token ${held.token}`)
  await sleep(2_000, undefined, { signal: held.signal })
} finally {
  await simba.close()
}
