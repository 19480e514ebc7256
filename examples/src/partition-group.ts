/** Eight partitions, spread over the processes that run this; start another one, and half of them move. */
import { open } from './open.js'

const simba = await open()
const task = simba.group('example', { partitions: 8 }).runWhileLeader(async (term, partition) => {
  console.log(`runs partition ${partition} with token ${term.token}`)
  console.log(`ran partition ${partition}: ${await term.revoked}`)
})
await task.done
