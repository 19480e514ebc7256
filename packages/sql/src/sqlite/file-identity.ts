/**
 * Whether a connection's files are still those that other processes find under their names.
 *
 * SQLite goes on with the files that it has opened when others take their place. A connection to a file that was deleted or replaced
 * works, but alone, and so does one whose `-wal` or `-shm` was: two processes would each be granted the same lease. So each transaction
 * compares what stands under the names with what was opened. An inode that is open is not used again, so a new file has another.
 *
 * The files are never opened here: to close a file descriptor drops all of the process's locks on that file, SQLite's too.
 *
 * On Linux, `stat` of a file that is being written makes the next `fdatasync` write the inode too, which halves the rate of commits. But
 * there the name under which a process has a file open can be read, and it says when the file was moved or deleted.
 */
import { fstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { ConnectionTrouble } from '../trouble.js'

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

/** A file that the connection has open. */
interface OpenFile {
  readonly path: string
  readonly inode: Inode
  /** Where the platform tells under which name it is open, and the name that it told. */
  readonly link: { readonly descriptor: string; readonly name: string } | undefined
}

/** The files are looked at themselves this often all the same: a descriptor may have become that of another file of that name. */
const CHECKS_BY_NAME = 256

export class FileIdentity {
  readonly path: string
  #files: OpenFile[]
  #checks = 0

  /** @throws ConnectionTrouble if there is no such file, or if it is not the one that this process has open. */
  constructor(path: string) {
    this.path = path
    const inode = inodeOf(path)
    if (inode === undefined || isOpenHere(inode) === false) throw notTheSame(path, inode)
    this.#files = [openFile(path, inode)]
  }

  /** To be called once the connection has the database open in WAL mode. */
  rememberSideFiles(): void {
    for (const path of SIDE_FILES.map((suffix) => this.path + suffix)) {
      const inode = inodeOf(path)
      if (inode !== undefined) this.#files.push(openFile(path, inode))
    }
  }

  /** @throws ConnectionTrouble if another file, or none, has taken the place of one that the connection has open. */
  check(): void {
    if (++this.#checks % CHECKS_BY_NAME !== 0 && this.#files.every(hasItsName)) return
    this.#files = this.#files.map(({ path, inode }) => {
      const found = inodeOf(path)
      if (found?.ino !== inode.ino || found.dev !== inode.dev) throw notTheSame(path, found)
      return openFile(path, inode)
    })
  }
}

function openFile(path: string, inode: Inode): OpenFile {
  return { path, inode, link: linkOf(inode) }
}

/** Whether the file is known to be under its name; if not, it has to be looked at. */
function hasItsName({ link }: OpenFile): boolean {
  return link !== undefined && nameOf(link.descriptor) === link.name
}

function linkOf(inode: Inode): OpenFile['link'] {
  if (process.platform !== 'linux') return undefined
  const number = descriptors()?.find((name) => isInode(Number(name), inode))
  if (number === undefined) return undefined
  const descriptor = `/proc/self/fd/${number}`
  const name = nameOf(descriptor)
  return name === undefined ? undefined : { descriptor, name }
}

/** Linux adds " (deleted)" once the file has no name any more, and tells the new one when it has been renamed. */
function nameOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(descriptor)
  } catch {
    return undefined
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
function isOpenHere(inode: Inode): boolean | undefined {
  return descriptors()?.some((name) => isInode(Number(name), inode))
}

/** The numbers of what this process has open. */
function descriptors(): readonly string[] | undefined {
  const folder = DESCRIPTORS.get(process.platform)
  if (folder === undefined) return undefined
  try {
    return readdirSync(folder)
  } catch {
    return undefined
  }
}

function isInode(descriptor: number, { dev, ino }: Inode): boolean {
  try {
    const open = fstatSync(descriptor, { bigint: true })
    return open.ino === ino && open.dev === dev
  } catch {
    return false // that of the folder itself, closed by now
  }
}
