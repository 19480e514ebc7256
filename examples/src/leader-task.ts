/** Work that one process does at a time, again from the start in each term. */
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from './open.js'

const simba = await open()
const task = simba.election('example').runWhileLeader(async (term) => {
  for (let step = 1; term.isValid; step++) {
    console.log(`step ${step} with token ${term.token}`)
    await sleep(500, undefined, { signal: term.signal })
  }
})
await task.done
