/** The same as a loop: its body is the term's work, and a hand-over waits for it. */
import { open } from './open.js'

const simba = await open()
for await (const term of simba.election('example').terms()) {
  console.log(`leads with token ${term.token}`)
  console.log(`led with token ${term.token}: ${await term.revoked}`)
}
