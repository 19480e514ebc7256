/** What the backend holds now, for operators: read past the engine, and never used to decide anything. */
import type { Inspection, InspectScope, SessionId } from '../backend.js'
import { BackendError, isSimbaError, UnsupportedError } from '../errors.js'
import type { Client } from './client.js'

/** Who leads, as the backend has it now: "who, and since which token?", never "may I act?". */
export interface Holder {
  readonly session: SessionId
  readonly token: bigint
  /** The holder's metadata, where the backend tells it. */
  readonly metadata?: unknown
}

/** Sessions, leases and groups as the backend has them now, with each session's metadata as the value that was given. */
export interface SimbaInspection {
  readonly sessions: readonly {
    readonly id: SessionId
    readonly remainingMs: number
    readonly metadata: unknown
  }[]
  readonly leases: Inspection['leases']
  readonly groups: Inspection['groups']
}

export async function inspectAll(client: Client): Promise<SimbaInspection> {
  const { sessions, leases, groups } = await ask(client, 'inspect()', { kind: 'all' })
  return {
    sessions: sessions.map((session) => ({ ...session, metadata: parse(session.metadata) })),
    leases,
    groups,
  }
}

export async function findHolder(client: Client, name: string): Promise<Holder | undefined> {
  const { leases, sessions } = await ask(client, 'holder()', { kind: 'lease', name })
  const lease = leases.find((candidate) => candidate.name === name)
  if (lease?.holder === undefined) return undefined
  const session = sessions.find(({ id }) => id === lease.holder)
  const metadata = session === undefined ? undefined : parse(session.metadata)
  return { session: lease.holder, token: lease.token, ...(metadata === undefined ? {} : { metadata }) }
}

async function ask(client: Client, call: string, scope: InspectScope): Promise<Inspection> {
  client.ensureOpen(call)
  const { backend } = client.config
  if (backend.inspect === undefined) {
    throw new UnsupportedError(
      `${call}: the backend "${backend.name}" cannot list what it holds. Look with its own tools.`,
    )
  }
  const timeoutMs = client.timing.renewMs
  const controller = new AbortController()
  const key = Symbol(call)
  const late = new Promise<never>((_, reject) => {
    client.timers.arm(key, client.clock.now() + timeoutMs, () => {
      const error = new BackendError(`${backend.name}: ${call} got no answer within ${timeoutMs} ms.`)
      reject(error)
      controller.abort(error)
    })
  })
  try {
    return await Promise.race([backend.inspect(scope, { signal: controller.signal, timeoutMs }), late])
  } catch (error) {
    if (isSimbaError(error)) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new BackendError(`${backend.name}: ${call} failed: ${message}`, { cause: error })
  } finally {
    client.timers.disarm(key)
  }
}

/** Metadata is JSON if a Simba of ours wrote it; other text is shown as it is. */
function parse(metadata: string): unknown {
  if (metadata === '') return undefined
  try {
    return JSON.parse(metadata)
  } catch {
    return metadata
  }
}
