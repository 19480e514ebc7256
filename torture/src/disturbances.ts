/** What can be done to a backend, apart from its clients. A backend without an entry is left in peace. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'

export interface Disturbance {
  readonly name: string
  /** Begins, and returns the end of it. */
  begin(location: string): Promise<() => Promise<void>>
}

const holdFile: Disturbance = {
  name: 'a foreign process holds a write transaction',
  async begin(file) {
    const database = new DatabaseSync(file, { timeout: 5 })
    // Whoever has been stopped within a transaction holds the file for as long as that.
    for (;;) {
      try {
        database.exec('begin immediate')
        break
      } catch {
        await sleep(20)
      }
    }
    return async () => {
      database.exec('rollback')
      database.close()
    }
  },
}

export const disturbances: ReadonlyMap<string, readonly Disturbance[]> = new Map([['sqlite', [holdFile]]])
