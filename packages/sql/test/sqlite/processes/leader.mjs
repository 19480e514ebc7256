/** A client that is a candidate for "report": tells each of its tokens; `{ close: true }` makes it stop in order. */
import { Simba } from '@simba/core'
import { listen, openBackend, tell } from './open.mjs'

const [path, leaseDuration] = process.argv.slice(2)
const { backend } = await openBackend(path)
const simba = new Simba({ backend, leaseDuration })
const election = simba.election('report')

listen(async () => {
  await simba.close()
  tell('closed')
})
election.start({ onElected: ({ token }) => tell({ token: String(token) }) })
