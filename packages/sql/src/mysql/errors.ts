/** What errors of MySQL and MariaDB mean, by number (drivers name some of MariaDB's wrongly), and those of the way to them. */

/** Another attempt may succeed at once: others were in the way. */
const passing: ReadonlySet<number> = new Set([
  1020, // MariaDB: the row has changed since the snapshot
  1205, // lock wait timeout
  1213, // deadlock
])

const passingMeaning = 'other transactions were in the way all the time'

const meanings: { readonly [number: number]: string } = {
  1020: passingMeaning,
  1205: passingMeaning,
  1213: passingMeaning,
  1021: 'the disk of the server is full',
  1040: 'the server has no connection left; use smaller pools, or raise max_connections',
  1044: 'the user lacks rights on the database',
  1045: 'the server does not let this user in; look at the user and the password',
  1049: 'there is no such database',
  1053: 'the server is shutting down',
  1114: 'the table is full, perhaps since the disk of the server is',
  1142: 'the user lacks rights; it needs select, insert, update and delete on simba_session, simba_lease and simba_member',
  1203: 'the user has no connection left; use smaller pools, or raise max_user_connections',
  1290: 'the server takes no writes: it is a replica, or was set read-only after a failover; connect to the primary',
  1792: 'the connection takes no writes; connect to the primary',
  1836: 'the server takes no writes: it is a replica, or was set read-only after a failover; connect to the primary',
  1927: 'an administrator ended the connection',
  1969: 'the server was not done in time: it is busy, or another transaction holds a row of Simba locked',
  3024: 'the server was not done in time: it is busy, or another transaction holds a row of Simba locked',
  1317: 'an administrator ended the statement',
}

const wayMeanings: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nothing listens at the address; look whether the server runs',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  PROTOCOL_CONNECTION_LOST: 'the connection was cut',
  ER_SOCKET_UNEXPECTED_CLOSE: 'the connection was cut',
  ER_CMD_CONNECTION_CLOSED: 'the connection was cut',
  ER_GET_CONNECTION_TIMEOUT:
    'the pool gave no connection in time; enlarge it, or give Simba a pool of its own',
  ENOTFOUND: 'the host is not known',
  EHOSTUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not answer',
}

const ended = /Pool is closed|pool is closed/

export function isRetryable(error: unknown): boolean {
  const number = numberOf(error)
  return error instanceof Overtaken || (number !== undefined && passing.has(number))
}

/** A table or a column is missing. */
export function isMissingTable(error: unknown): boolean {
  const number = numberOf(error)
  return number === 1146 || number === 1054
}

export function explain(error: unknown): string | undefined {
  if (error instanceof Overtaken) return passingMeaning
  if (error instanceof Error && ended.test(error.message))
    return 'the application has ended the pool; make the backend of one that is open'
  const number = numberOf(error)
  const known = number === undefined ? undefined : meanings[number]
  return known ?? wayMeanings[codeOf(error) ?? '']
}

/** What was looked at had changed when it was to be changed: look again. */
export class Overtaken extends Error {
  override readonly name: string = 'Overtaken'

  constructor() {
    super('others changed the lease at the same time')
  }
}

function numberOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'errno' in error && typeof error.errno === 'number'
    ? error.errno
    : undefined
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}
