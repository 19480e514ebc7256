/** Effects as short texts, so that a test reads as a transcript: "revoked report STOPPED", "call release report 7". */
import type { SimbaEvent } from '@simba/core'
import type { Completion, Effect, Request, TimerKey } from '../../src/engine/effect.js'

/** Timers as tests write them: an election's by its name, not by the number of its slot. */
export type TimerName = Exclude<TimerKey, number> | `election:${string}`

export function notationOf(effect: Effect, timerName: (key: TimerKey) => TimerName): string {
  switch (effect.type) {
    case 'call':
      return `call ${requestText(effect.request)}`
    case 'watch':
    case 'unwatch':
      return `${effect.type} ${effect.topic.kind === 'lease' ? effect.topic.name : effect.topic.group}`
    case 'arm':
      return effect.at === undefined
        ? `disarm ${timerName(effect.timer)}`
        : `arm ${timerName(effect.timer)} ${effect.at}`
    case 'deadline':
      return effect.at === Number.NEGATIVE_INFINITY ? 'no deadline' : `deadline ${effect.at}`
    case 'elected':
      return `elected ${effect.name} ${effect.token}`
    case 'revoked':
      return `revoked ${effect.name} ${effect.reason}`
    case 'attempted': {
      const { outcome } = effect
      return outcome.kind === 'held'
        ? `attempted ${effect.name} held ${outcome.holder}`
        : `attempted ${effect.name} failed ${outcome.error.message}`
    }
    case 'complete':
      return `complete ${completionText(effect.completion)}`
    case 'members':
      return effect.session === undefined
        ? `members ${effect.group} none`
        : `members ${effect.group} ${effect.session} of ${effect.members.join(',')}`
    case 'publish':
      return `publish ${eventText(effect.event)}`
  }
}

/** What a request is about, besides its operation and session. */
export function subjectOf(request: Request): string | undefined {
  if ('name' in request) return request.name
  if ('group' in request) return request.group
  return 'session' in request ? request.session.id : undefined
}

function requestText(request: Request): string {
  const subject = subjectOf(request)
  const token = request.op === 'release' ? ` ${request.token}` : ''
  return subject === undefined ? request.op : `${request.op} ${subject}${token}`
}

function completionText(completion: Completion): string {
  switch (completion.kind) {
    case 'term':
      return `term ${completion.name} ${completion.reason}`
    case 'stepDown':
      return `stepDown ${completion.name} ${completion.call}`
    case 'stop':
      return `stop ${completion.name}`
    case 'groupStop':
      return `groupStop ${completion.group}`
    case 'close':
      return `close ${completion.leftMs}`
  }
}

function eventText(event: SimbaEvent): string {
  const facts = Object.values(event).map((fact) => {
    if (fact === undefined) return '-'
    return typeof fact === 'object' && fact !== null && 'message' in fact ? fact.message : fact
  })
  return facts.join(' ')
}
