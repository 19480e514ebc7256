/**
 * Whether a connection's files are still those that other processes find under their names.
 *
 * SQLite goes on with the files that it has opened when others take their place. A connection to a file that was deleted or replaced
 * works, but alone, and so does one whose `-wal` or `-shm` was: two processes would each be granted the same lease. So each transaction
 * compares what stands under the names with what was opened. An inode that is open is not used again, so a new file has another.
 *
 * The files are never opened here: to close a file descriptor drops all of the process's locks on that file, SQLite's too.
 */
import { fstatSync, readdirSync, statSync } from 'node:fs'
import { ConnectionTrouble } from '../connections.js'

interface Inode {
  readonly dev: bigint
  readonly ino: bigint
}

/** While a connection has a database in WAL mode open, nobody deletes or replaces these two but by mistake. */
const SIDE_FILES = ['-wal', '-shm']

/** Where platforms list the files that a process has open. */
const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['linux', '/proc/self/fd'],
  ['darwin', '/dev/fd'],
])

export class FileIdentity {
  readonly path: string
  readonly #expected = new Map<string, Inode>()

  /** @throws ConnectionTrouble if there is no such file, or if it is not the one that this process has open. */
  constructor(path: string) {
    this.path = path
    const inode = inodeOf(path)
    if (inode === undefined || isOpenHere(inode) === false) throw notTheSame(path, inode)
    this.#expected.set(path, inode)
  }

  /** To be called once the connection has the database open in WAL mode. */
  rememberSideFiles(): void {
    for (const path of SIDE_FILES.map((suffix) => this.path + suffix)) {
      const inode = inodeOf(path)
      if (inode !== undefined) this.#expected.set(path, inode)
    }
  }

  /** @throws ConnectionTrouble if another file, or none, has taken the place of one that the connection has open. */
  check(): void {
    for (const [path, expected] of this.#expected) {
      const found = inodeOf(path)
      if (found?.ino !== expected.ino || found.dev !== expected.dev) throw notTheSame(path, found)
    }
  }
}

function inodeOf(path: string): Inode | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

function notTheSame(path: string, found: Inode | undefined): ConnectionTrouble {
  return new ConnectionTrouble(
    `${path} was ${found === undefined ? 'deleted or moved' : 'replaced by another file'} while the connection was open, so that other ` +
      'processes would not see what it does; put the file back, or open the database anew and make a new backend of it',
  )
}

/** `undefined` where the platform does not tell; Windows lets nobody replace an open database. */
function isOpenHere({ dev, ino }: Inode): boolean | undefined {
  const folder = DESCRIPTORS.get(process.platform)
  if (folder === undefined) return undefined
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return undefined
  }
  return names.some((name) => {
    try {
      const open = fstatSync(Number(name), { bigint: true })
      return open.ino === ino && open.dev === dev
    } catch {
      return false // that of the folder itself, closed by now
    }
  })
}
