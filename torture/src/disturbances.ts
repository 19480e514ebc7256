/** What can be done to a backend, apart from its clients. A backend without an entry is left in peace. */
import { DatabaseSync } from '@photostructure/sqlite'

export interface Disturbance {
  readonly name: string
  /** Begins, and returns the end of it. */
  begin(location: string): Promise<() => Promise<void>>
}

const holdFile: Disturbance = {
  name: 'a foreign process holds a write transaction',
  async begin(file) {
    const database = new DatabaseSync(file, { timeout: 5_000 })
    database.exec('begin immediate')
    return async () => {
      database.exec('rollback')
      database.close()
    }
  },
}

export const disturbances: ReadonlyMap<string, readonly Disturbance[]> = new Map([['sqlite', [holdFile]]])
