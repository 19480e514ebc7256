/** What happens in a world, line by line, for people: what the world does, and what each engine makes of it. */
import type { Observer } from '@simba/testing'
import type { Effect, EngineEvent, EngineState, Request, Wrap } from './engine.js'

export class Transcript {
  readonly #lines: string[] = []
  readonly #keep: number
  /** The seeds of clients that have not taken a step yet: an engine is told by its own. */
  readonly #newClients = new Map<number, string>()
  readonly #nodes = new WeakMap<EngineState, string>()
  #now = 0
  #time: () => number = () => this.#now

  constructor(keep: number) {
    this.#keep = keep
  }

  readonly observer: Observer = {
    note: (atMs, text) => {
      this.#now = atMs
      this.#add(text)
    },
    onClient: (node, seed, time) => {
      this.#time = time
      this.#newClients.set(seed | 0, node)
    },
  }

  readonly wrap: Wrap = (step) => (state, event, now) => {
    const node = this.#nodeOf(state)
    const before = phasesOf(state)
    const effects = step(state, event, now)
    this.#add(`${node}   ${show(event, state)}${changes(before, phasesOf(state))}${consequences(effects)}`)
    return effects
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  #nodeOf(state: EngineState): string {
    const known = this.#nodes.get(state) ?? this.#newClients.get(state.random) ?? '?'
    this.#nodes.set(state, known)
    return known
  }

  #add(text: string): void {
    this.#lines.push(`${this.#time().toFixed(1).padStart(10)} ${text}`)
    if (this.#lines.length > 2 * this.#keep) this.#lines.splice(0, this.#lines.length - this.#keep)
  }
}

function phasesOf(state: EngineState): ReadonlyMap<string, string> {
  const phases = new Map<string, string>([['session', state.session.phase]])
  if (state.lifecycle.phase !== 'running') phases.set('client', state.lifecycle.phase)
  for (const { name, phase } of state.elections.values()) {
    const token = 'term' in phase ? ` ${phase.term.token}` : ''
    const attempt = phase.phase === 'candidate' && phase.attempt !== undefined ? ' trying' : ''
    phases.set(name, `${phase.phase}${token}${attempt}`)
  }
  for (const { name, phase } of state.groups.values()) phases.set(name, phase.phase)
  return phases
}

function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string {
  const changed: string[] = []
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [from, to] = [before.get(key) ?? 'none', after.get(key) ?? 'gone']
    if (from !== to) changed.push(`${key}: ${from} → ${to}`)
  }
  return changed.length === 0 ? '' : `  [${changed.join('; ')}]`
}

function consequences(effects: readonly Effect[]): string {
  const shown = effects.flatMap((effect) => {
    switch (effect.type) {
      case 'call':
        return [`${effect.request.op}${subject(effect.request)} #${effect.request.id}`]
      case 'elected':
        return [`elected ${effect.name}`]
      case 'revoked':
        return [`revoked ${effect.name} ${effect.reason}`]
      case 'complete':
        return [`complete ${effect.completion.kind}`]
      case 'deadline':
        return [`deadline ${effect.at === -Infinity ? 'over' : effect.at.toFixed(1)}`]
      default:
        return []
    }
  })
  return shown.length === 0 ? '' : `  ⇒ ${shown.join(', ')}`
}

function show(event: EngineEvent, { slots }: EngineState): string {
  switch (event.type) {
    case 'reply': {
      const { outcome, request } = event
      const result = outcome.ok
        ? answer(outcome.value)
        : outcome.timedOut
          ? 'no answer in time'
          : outcome.error.message
      return `${event.op}${subject(request)} #${request.id} answered: ${result}`
    }
    case 'timer':
      return `timer ${typeof event.timer === 'number' ? (slots.elections[event.timer]?.name ?? 'of nobody') : event.timer}`
    case 'hint':
      return event.hint.kind === 'released'
        ? `hint: ${event.hint.name} released`
        : `hint: members of ${event.hint.group}`
    case 'late':
      return `timers are ${Math.round(event.lateMs)} ms late`
    case 'start':
    case 'stop':
    case 'stepDown':
    case 'workExited':
      return `${event.type} ${event.name}`
    case 'join':
    case 'leave':
      return `${event.type} ${event.group}`
    case 'boot':
    case 'close':
      return event.type
    default:
      return unreachable(event)
  }
}

function answer(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part)) ?? 'done'
}

function subject(request: Request): string {
  const name = 'name' in request ? ` ${request.name}` : 'group' in request ? ` ${request.group}` : ''
  return 'token' in request ? `${name} token ${request.token}` : name
}

function unreachable(event: never): never {
  throw new Error(`Impossible event ${String(event)}`)
}
