/** What PostgreSQL's errors mean, by SQLSTATE, and those of the way to it. */

/** Another attempt may succeed at once: others were in the way. */
const passing: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
])

const meanings: { readonly [code: string]: string } = {
  '22001': 'the metadata are longer than their column; make simba_session.metadata a varchar(1024)',
  '25006':
    'the server takes no writes: it is a standby, or was set read-only; connect to the primary (target_session_attrs=read-write)',
  '28000': 'the server does not let this user in; look at the user, and at pg_hba.conf',
  '28P01': 'the password is wrong',
  '3D000': 'there is no such database',
  '40001': 'other transactions were in the way all the time',
  '40P01': 'other transactions were in the way all the time',
  '42501':
    'the user lacks rights; it needs select, insert, update and delete on simba_session, simba_lease and simba_member',
  '53100': 'the disk of the server is full',
  '53200': 'the server is out of memory',
  '53300':
    'the server has no connection left; use smaller pools, raise max_connections, or put a pooler in between',
  '55P03': 'a row was locked by another transaction all the time',
  '57014': 'the server was not done in time: it is busy, or another transaction holds a row of Simba locked',
  '57P01': 'an administrator ended the connection, or the server is shutting down',
  '57P02': 'the server crashed',
  '57P03': 'the server is starting or shutting down',
  '57P05': 'the server ended the connection, which was idle for too long',
}

/** Of the network, and of pools. */
const wayMeanings: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nothing listens at the address; look whether the server runs',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'the host is not known',
  EHOSTUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  CONNECTION_CLOSED: 'the connection was cut',
  CONNECTION_DESTROYED: 'the connection was cut',
  CONNECTION_ENDED: 'the application has ended the pool; make the backend of one that is open',
  CONNECT_TIMEOUT: 'the server did not take the connection in time',
}

const exhausted = /timeout exceeded when trying to connect/
const ended = /Cannot use a pool after calling end on the pool/
const cut = /Connection terminated|Client has encountered a connection error|server closed the connection/

export function isRetryable(error: unknown): boolean {
  return passing.has(codeOf(error) ?? '')
}

/** A table or a column is missing. */
export function isMissingTable(error: unknown): boolean {
  const code = codeOf(error)
  return code === '42P01' || code === '42703' || code === '3F000'
}

/** The statement is not prepared on this connection any more, or for tables that have changed since. */
export function isNotPrepared(error: unknown): boolean {
  const code = codeOf(error)
  return code === '26000' || (code === '0A000' && /cached plan/.test(messageOf(error)))
}

/** It is prepared already: by an earlier message that failed, or behind a pooler by another client. */
export function isPreparedAlready(error: unknown): boolean {
  return codeOf(error) === '42P05'
}

export function explain(error: unknown): string | undefined {
  const message = messageOf(error)
  if (exhausted.test(message))
    return 'the pool gave no connection in time; enlarge it, or give Simba a pool of its own'
  if (ended.test(message)) return 'the application has ended the pool; make the backend of one that is open'
  const code = codeOf(error)
  const meaning = code === undefined ? undefined : (meanings[code] ?? wayMeanings[code])
  if (meaning !== undefined) return meaning
  return cut.test(message) ? 'the connection was cut' : undefined
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}
