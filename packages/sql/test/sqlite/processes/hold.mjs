/** An application that keeps a write transaction open: from `{ hold: true }` to `{ hold: false }`. */
import { listen, openBackend, tell } from './open.mjs'

const [path] = process.argv.slice(2)
const { database } = await openBackend(path)

listen(({ hold }) => {
  database.exec('pragma busy_timeout = 20000')
  database.exec(hold ? 'begin immediate' : 'rollback')
  tell(hold ? 'holds' : 'let go')
})
tell('ready')
