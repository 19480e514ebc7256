/** A report each second, by one process. */
import { Schedule } from '@simba/core'
import { open } from './open.js'

const simba = await open()
const task = simba.election('example').schedule(Schedule.fixedRate('1s'), async (term) => {
  console.log(`report of ${new Date().toISOString()} with token ${term.token}`)
})
await task.done
