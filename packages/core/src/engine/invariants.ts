/**
 * What is always true between two steps, and of the effects of one step. Tests check it after every step and cite the numbers.
 *
 * - L1  A deadline counts from the sending of the request that it answers. (`timing.ts`)
 * - L2  A term is revoked before its lease is released, and a release carries the term's token.
 * - L3  At most one keep-alive is in flight, and one acquire per name.
 * - L4  A grant becomes a term only as the answer to the current attempt, before the deadline, with a token above all that this session
 *       has released for the name.
 * - L5  Terms exist only in an open session, and no two of one name.
 * - L6  A session whose deadline has passed is over, whatever comes later.
 * - L7  A session that has ended is never continued: the next one has another id.
 * - L8  A hand-over goes: revoked, then the work's exit or the deadline as it stood, then the release, then completed.
 * - L9  Nothing waits for nothing: a candidate has an attempt in flight, or a timer, or waits for a session, for work or for a release;
 *       a group likewise; a session is being opened or renewed.
 * - L10 Each `elected` is followed by exactly one `revoked` and then one `complete` of the same term, before the next `elected` of the name.
 * - L11 What is remembered is bounded by what is started, and by 10,000 to 11,000 names beyond.
 */
import type { Effect } from './effect.js'
import type { Election, EngineState, Group } from './state.js'
import { termOf } from './state.js'
import { isReleasing, RETIRED_BATCH, RETIRED_NAMES } from './tokens.js'

/** The broken invariants of a state, in words; none if all is well. */
export function checkState(state: EngineState, now: number): string[] {
  const broken: string[] = []
  const { session, lifecycle } = state
  if (session.phase === 'open') {
    if (now >= session.deadline)
      broken.push(`L6: the session is open ${now - session.deadline} ms after its deadline`)
    if (!(session.periodMs > 0)) broken.push(`L9: the renewal period is ${session.periodMs} ms`)
  }
  if (session.phase === 'ended' && lifecycle.phase === 'running')
    broken.push('L9: no session is being opened')
  if (lifecycle.phase === 'closed' && state.elections.size + state.groups.size + state.abandoned.size > 0) {
    broken.push('L11: a closed client still has elections, groups or sessions')
  }
  for (const election of state.elections.values()) broken.push(...checkElection(state, election))
  for (const group of state.groups.values()) broken.push(...checkGroup(state, group))
  if (state.retiredTokens.size >= RETIRED_NAMES + RETIRED_BATCH)
    broken.push(`L11: ${state.retiredTokens.size} names are remembered`)
  for (const name of state.tokens.keys()) {
    if (!state.elections.has(name))
      broken.push(`L11: the tokens of "${name}" are remembered as if it were started`)
  }
  if (state.slots.elections.length - state.slots.free.length !== state.elections.size)
    broken.push('L11: slots are taken by nobody')
  for (const name of state.terms.keys()) {
    if (!state.elections.has(name)) broken.push(`L11: "${name}" has a term and is not started`)
  }
  return broken
}

function checkElection(state: EngineState, election: Election): string[] {
  const broken: string[] = []
  const { phase, name, kind } = election
  const open = state.session.phase === 'open'
  if (state.slots.elections[election.slot] !== election) broken.push(`L9: "${name}" is not in its slot`)
  const term = termOf(election)
  if (state.terms.get(name) !== (term === undefined ? undefined : election))
    broken.push(`L5: "${name}" ${term === undefined ? 'is' : 'is not'} among the elections with a term`)
  if (term !== undefined && !open) broken.push(`L5: "${name}" has a term without a session`)
  switch (phase.phase) {
    case 'candidate': {
      if (phase.attempt !== undefined && state.givenUp.has(name)) {
        broken.push(`L3: "${name}" has two attempts in flight`)
      }
      const waits =
        phase.attempt !== undefined ||
        phase.retryAt !== Infinity ||
        phase.busy !== undefined ||
        state.givenUp.has(name) ||
        isReleasing(state, name)
      if (open && !waits && state.lifecycle.phase === 'running')
        broken.push(`L9: "${name}" waits for nothing`)
      return broken
    }
    case 'leader':
      if (phase.term.token <= 0n) broken.push(`L4: the token of "${name}" is ${phase.term.token}`)
      return broken
    case 'handover':
      if (kind === 'plain') broken.push(`L8: "${name}" waits for work that it does not have`)
      if (!phase.term.working) broken.push(`L8: "${name}" waits for work that has exited`)
      return broken
    case 'releasing':
      if (phase.request === undefined && state.lifecycle.phase !== 'closing') {
        broken.push(`L8: nobody releases "${name}"`)
      }
      return broken
    case 'cooldown':
      return broken
  }
}

function checkGroup(state: EngineState, group: Group): string[] {
  const { phase, name } = group
  const open = state.session.phase === 'open' && state.lifecycle.phase === 'running'
  const waits =
    phase.phase === 'leaving' ||
    (phase.phase === 'member' && (phase.refresh !== undefined || phase.refreshAt !== Infinity)) ||
    ((phase.phase === 'joining' || phase.phase === 'departed') &&
      (phase.request !== undefined || phase.retryAt !== Infinity))
  return open && !waits ? [`L9: the group "${name}" waits for nothing`] : []
}

/** Checks the effects of all steps of one client, in order: feed it each step's. */
export class EffectChecker {
  private readonly running = new Map<
    string,
    { readonly term: number; readonly token: bigint; revoked: boolean }
  >()
  private readonly inFlight = new Map<number, string>()
  private readonly sessions = new Set<string>()

  /** A request was answered, or timed out. */
  answered(request: number): void {
    this.inFlight.delete(request)
  }

  /** The broken invariants, in words. */
  check(effects: readonly Effect[]): string[] {
    const broken: string[] = []
    for (const effect of effects) {
      const words = this.checkEffect(effect)
      if (words !== undefined) broken.push(words)
    }
    return broken
  }

  private checkEffect(effect: Effect): string | undefined {
    switch (effect.type) {
      case 'elected': {
        if (this.running.has(effect.name)) return `L10: "${effect.name}" is elected twice`
        this.running.set(effect.name, { term: effect.term, token: effect.token, revoked: false })
        return undefined
      }
      case 'revoked': {
        const term = this.running.get(effect.name)
        if (term?.term !== effect.term || term.revoked)
          return `L10: "${effect.name}" is revoked without its term`
        term.revoked = true
        return undefined
      }
      case 'complete': {
        const { completion } = effect
        if (completion.kind === 'stop' && this.running.has(completion.name)) {
          return `L8: the stop of "${completion.name}" completes before its term`
        }
        if (completion.kind !== 'term') return undefined
        const term = this.running.get(completion.name)
        if (term?.term !== completion.term || !term.revoked)
          return `L10: a term of "${completion.name}" completes unrevoked`
        this.running.delete(completion.name)
        return undefined
      }
      case 'call':
        return this.checkCall(effect.request)
      case 'publish':
        if (effect.event.type !== 'SessionOpened') return undefined
        if (this.sessions.has(effect.event.session))
          return `L7: session ${effect.event.session} is opened twice`
        this.sessions.add(effect.event.session)
        return undefined
      default:
        return undefined
    }
  }

  private checkCall(request: Extract<Effect, { type: 'call' }>['request']): string | undefined {
    if (request.op === 'release') {
      const term = this.running.get(request.name)
      if (term !== undefined && !term.revoked && term.token === request.token) {
        return `L2: "${request.name}" is released while its term runs`
      }
      return undefined
    }
    if (request.op !== 'keepAlive' && request.op !== 'acquire') return undefined
    const subject = `${request.op} ${request.op === 'acquire' ? request.name : ''} ${request.session.id}`
    if ([...this.inFlight.values()].includes(subject)) return `L3: two of "${subject.trim()}" are in flight`
    this.inFlight.set(request.id, subject)
    return undefined
  }
}
