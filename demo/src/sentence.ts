/** What the story says of each event. */
import type { ActName, LeaderEnd, StoryEvent } from './event.js'
import type { Paint } from './paint.js'
import { duration, plural, roughly } from './words.js'

const ACTS: { readonly [Name in ActName]: string } = {
  lead: '1 · One leads',
  kill: '2 · The leader is killed (kill -9)',
  sleep: '3 · The leader sleeps past its lease (SIGSTOP), and wakes in the middle of a write',
  leave: '4 · The leader leaves in order (SIGTERM)',
  end: 'The end',
}

export function heading({ act, round }: { readonly act: ActName; readonly round: number }): string {
  return round > 1 && act !== 'end' ? `${ACTS[act]} · round ${round}` : ACTS[act]
}

/** `undefined` if people are told of it in another way. */
export function sentence(
  event: Exclude<StoryEvent, { kind: 'start' | 'act' }>,
  paint: Paint,
): string | undefined {
  switch (event.kind) {
    case 'started':
      return event.again ? `is started again, as process ${event.pid}` : `is started, as process ${event.pid}`
    case 'up':
      return event.again ? 'has opened a new session, and competes again' : 'competes'
    case 'elected':
      return `${paint.good('leads')} with token ${event.token}, its lease runs for ${duration(event.remainingMs)}${gap(event)}`
    case 'working':
      return `has written ${plural(event.writes, 'time')}; its lease, renewed now and then, has ${duration(event.remainingMs)} left`
    case 'killed':
      return `${paint.bad('kill -9')}: it is gone, and its lease still runs for about ${roughly(event.leaseLeftMs)}`
    case 'midWrite':
      return `isValid is true, so it begins write ${event.write} with token ${event.token} …`
    case 'stopped':
      return `${paint.bad('SIGSTOP')}: … and is frozen before the write reaches the table; its lease runs on`
    case 'continued':
      return `${paint.bad('SIGCONT')}`
    case 'woken':
      return `wakes after ${duration(event.stoodStillMs)}, unaware of it, and goes on with its write …`
    case 'lateWrite':
      return event.accepted
        ? `… which the table ${paint.bad('ACCEPTS')}`
        : `… which the table ${paint.good('refuses')}: token ${event.token} is below ${event.highest}`
    case 'firstLook':
      return `looks at isValid, for the first time since: ${event.isValid ? paint.bad('true') : paint.good('false')}`
    case 'revoked':
      return event.reason === 'STOPPED'
        ? 'stops its work and gives its lease back'
        : `is told that its term is over: ${event.reason}`
    case 'asked':
      return `${paint.bad('SIGTERM')}: it calls simba.close()`
    case 'left':
      return event.exitCode === 0 ? 'has left' : `has exited with code ${event.exitCode}`
    case 'judging':
      return 'The judge reads what each process wrote down about itself.'
    case 'fault':
      return `${paint.bad('FAULT')} ${event.message}`
    case 'term':
    case 'judged':
      return undefined
  }
}

const ENDS: { readonly [End in LeaderEnd]: string } = {
  killed: 'was killed',
  stopped: 'was stopped',
  left: 'was asked to leave',
  revoked: 'lost its term',
}

function gap({ gapMs, before }: Extract<StoryEvent, { kind: 'elected' }>): string {
  return gapMs === undefined || before === undefined
    ? ''
    : `; ${duration(gapMs)} after ${before.node} ${ENDS[before.end]}`
}
