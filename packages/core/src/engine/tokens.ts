/**
 * What is remembered of tokens: which one this session released, so that it is not adopted again, and the highest one ever seen, so
 * that a backend that lost data is noticed. Bounded: names that are started, and the last 10,000 that were.
 */
import type { SessionId } from '../backend.js'
import type { EngineState, TokenMemory } from './state.js'

/** How many names are remembered beyond those that are started. */
export const RETIRED_NAMES = 10_000

/** The oldest are dropped this many at a time: finding the first entry of a map takes long when those before it have been deleted. */
export const RETIRED_BATCH = 1_000

/** The memory of a name that is being started. */
export function recallTokens(state: EngineState, name: string): void {
  const retired = state.retiredTokens.get(name)
  if (retired === undefined) return
  state.retiredTokens.delete(name)
  state.tokens.set(name, retired)
}

/** Moves the memory of a name that is no longer started among the retired ones, and drops the oldest beyond the bound. */
export function retireTokens(state: EngineState, name: string): void {
  const memory = state.tokens.get(name)
  if (memory === undefined) return
  state.tokens.delete(name)
  state.retiredTokens.set(name, memory)
  if (state.retiredTokens.size < RETIRED_NAMES + RETIRED_BATCH) return
  for (const oldest of state.retiredTokens.keys()) {
    if (state.retiredTokens.size === RETIRED_NAMES) return
    state.retiredTokens.delete(oldest)
  }
}

/** Remembers an adopted token, and reports one that is not above an earlier one. */
export function noteAdopted(state: EngineState, name: string, token: bigint): void {
  const memory = memoryOf(state, name)
  if (token <= memory.seen) {
    state.out.push({ type: 'publish', event: { type: 'TokenWentBack', name, token, highest: memory.seen } })
  } else {
    memory.seen = token
  }
}

/** Remembers that the session has sent a release of this token. */
export function noteReleasing(
  state: EngineState,
  session: SessionId,
  name: string,
  token: bigint,
  request: number,
): void {
  const memory = memoryOf(state, name)
  if (memory.releasedBy !== session || token > memory.released) memory.released = token
  memory.releasedBy = session
  const pending = state.releases.get(name)
  const greatest = pending === undefined || token > pending.token ? token : pending.token
  const requests = [...(pending?.requests ?? []), request]
  state.releases.set(name, { token: greatest, requests, latest: request })
}

/** Remembers that a release was answered, or given up; an answer settles all releases of tokens up to its own. */
export function noteReleased(
  state: EngineState,
  name: string,
  token: bigint,
  request: number,
  answered: boolean,
): void {
  const memory = state.tokens.get(name) ?? state.retiredTokens.get(name)
  if (answered && memory !== undefined) memory.releaseAnswered = state.nextId
  const pending = state.releases.get(name)
  if (pending === undefined) return
  const requests = pending.requests.filter((id) => id !== request)
  const unanswered = answered && token >= pending.token ? 0n : pending.token
  if (unanswered === 0n && requests.length === 0) state.releases.delete(name)
  else state.releases.set(name, { token: unanswered, requests, latest: pending.latest })
}

/**
 * Forgets the releases without an answer that do not matter any more: a list of leases that was asked for by this request, after them,
 * does not show their token, and a token that is gone never comes back.
 */
export function settleReleases(
  state: EngineState,
  request: number,
  owned: ReadonlyMap<string, bigint>,
): void {
  for (const [name, { token, requests, latest }] of state.releases) {
    if (requests.length > 0 || latest > request) continue
    if ((owned.get(name) ?? Infinity) > token) state.releases.delete(name)
  }
}

/** Whether a release of the name is in flight. */
export function isReleasing(state: EngineState, name: string): boolean {
  const pending = state.releases.get(name)
  return pending !== undefined && pending.requests.length > 0
}

/** The greatest token of this name that the session has released; a grant must be above it. */
export function releasedToken(state: EngineState, session: SessionId, name: string): bigint {
  const memory = state.tokens.get(name) ?? state.retiredTokens.get(name)
  const pending = state.releases.get(name)?.token ?? 0n
  const released = memory?.releasedBy === session ? memory.released : 0n
  return released > pending ? released : pending
}

/** Whether a list of leases that was asked for by this request may still show a lease whose release was answered since. */
export function releasedSince(state: EngineState, request: number, name: string): boolean {
  const memory = state.tokens.get(name) ?? state.retiredTokens.get(name)
  return memory !== undefined && memory.releaseAnswered > request
}

function memoryOf(state: EngineState, name: string): TokenMemory {
  const known = state.tokens.get(name) ?? state.retiredTokens.get(name)
  if (known !== undefined) return known
  const memory: TokenMemory = { seen: 0n, released: 0n, releasedBy: undefined, releaseAnswered: 0 }
  state.tokens.set(name, memory)
  if (!state.elections.has(name)) retireTokens(state, name)
  return memory
}
