/**
 * What SQLite's errors mean. Drivers tell the code in three ways: better-sqlite3 as a name (`SQLITE_BUSY_SNAPSHOT`), libsql as that and
 * as `rawCode`, node:sqlite as `errcode`, which may be an extended code: the lowest eight bits tell the kind.
 */

const kinds = {
  error: 1,
  busy: 5,
  locked: 6,
  readonly: 8,
  interrupt: 9,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  protocol: 15,
  notadb: 26,
} as const

type Kind = keyof typeof kinds

/** Another connection is in the way, and will not be for long. */
const passing: ReadonlySet<Kind> = new Set(['busy', 'locked', 'protocol'])

/** What only the connection itself is in the way of: a transaction or an iteration of the application. */
const occupied = /within a transaction|inside a transaction|connection is busy executing a query/

const closed = /(?:database|connection) is (?:not open|closed)|statement has been finalized/

const meanings: { readonly [K in Kind]?: string } = {
  busy: 'another connection was writing to the file all the time; keep write transactions on it short',
  locked: 'another connection was using the tables all the time; keep transactions on them short',
  protocol: 'other connections were opening the file all the time',
  readonly:
    'the file, its folder or the connection cannot be written to; open the database for writing, with a user that may write to the folder',
  interrupt: 'the application interrupted the statement',
  ioerr: 'the file could not be read or written; look at the disk, and whether the folder is still there',
  corrupt: 'the file is damaged; stop all processes that use it, and repair it or restore it from a backup',
  full: 'there is no room left for the file; free some, or raise its limit',
  cantopen:
    'the file or its -wal file could not be opened; look whether the folder is there and may be written to',
  notadb: 'the file is no SQLite database, or is encrypted; give one that is',
}

export function isRetryable(error: unknown): boolean {
  const kind = kindOf(error)
  return (kind !== undefined && passing.has(kind)) || isOccupied(error)
}

export function explain(error: unknown): string | undefined {
  if (isOccupied(error))
    return 'the connection was in use by the application all the time; give Simba a connection of its own'
  if (error instanceof Error && closed.test(error.message))
    return 'the application has closed the database; open it, and make a backend of it'
  const kind = kindOf(error)
  return kind === undefined ? undefined : meanings[kind]
}

function isOccupied(error: unknown): boolean {
  return error instanceof Error && occupied.test(error.message)
}

function kindOf(error: unknown): Kind | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const number = numberIn(error)
  if (number !== undefined) return kindNames.find((kind) => kinds[kind] === (number & 0xff))
  if (!('code' in error) || typeof error.code !== 'string') return undefined
  const name = /^SQLITE_([A-Z]+)/.exec(error.code)?.[1]?.toLowerCase()
  return kindNames.find((kind) => kind === name)
}

const kindNames = Object.keys(kinds).filter((name): name is Kind => Object.hasOwn(kinds, name))

function numberIn(error: object): number | undefined {
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode
  if ('rawCode' in error && typeof error.rawCode === 'number') return error.rawCode
  return undefined
}
