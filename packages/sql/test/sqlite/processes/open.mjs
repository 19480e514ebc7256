/** What the child processes of the tests share: a backend with a connection of its own, from what is built. */
import { SqlLeaseBackend } from '@simba/sql'

export async function openBackend(path, driver = '@photostructure/sqlite') {
  const database = await openDatabase(path, driver)
  const backend = SqlLeaseBackend.sqlite(database)
  await backend.createSchema({ timeoutMs: 20_000 })
  return { backend, database }
}

async function openDatabase(path, driver) {
  switch (driver) {
    case '@photostructure/sqlite':
    case 'node:sqlite': {
      const { DatabaseSync } = await import(driver)
      return new DatabaseSync(path)
    }
    default: {
      const { default: Database } = await import(driver)
      return new Database(path)
    }
  }
}

export const call = { signal: new AbortController().signal, timeoutMs: 20_000 }

/** Tells the parent something, as a line of JSON. */
export function tell(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

/** Calls back for each line of JSON from the parent; ends the process with its standard input. */
export function listen(hear) {
  let text = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk) => {
    text += chunk
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      hear(JSON.parse(text.slice(0, end)))
      text = text.slice(end + 1)
    }
  })
  process.stdin.on('end', () => process.exit(0))
}
