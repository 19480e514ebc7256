/** Knows who leads, and is told when that changes. Start it several times; stop the leader with Ctrl-C. */
import { open } from './open.js'

const simba = await open()
simba.election('example').start({
  onElected: (term) => console.log(`leads with token ${term.token}`),
  onRevoked: (term, reason) => console.log(`led with token ${term.token}: ${reason}`),
})
