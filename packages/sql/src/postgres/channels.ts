/**
 * The channels that releases and changes of groups are told on. A server hands each notification to everybody who listens on its channel:
 * one channel for all names would tell every client of everything, one for each would be as many as names. So there are 256, and a client
 * listens on those of the names that it waits for.
 */
import { createHash } from 'node:crypto'
import type { Hint, HintTopic } from '@simba/core'

/** The channel of the lease whose name this expression of SQL gives. */
export function channelOfLease(name: string): string {
  return `'simba_' || left(md5('lease ' || ${name}), 2)`
}

export function channelOfGroup(name: string): string {
  return `'simba_' || left(md5('group ' || ${name}), 2)`
}

export function channelOf(topic: HintTopic): string {
  const subject = topic.kind === 'lease' ? `lease ${topic.name}` : `group ${topic.group}`
  return `simba_${createHash('md5').update(subject).digest('hex').slice(0, 2)}`
}

/** What a notification tells; `undefined` if it is none of ours. */
export function hintOf(payload: string): Hint | undefined {
  const [what, subject] = payload.split(' ', 2)
  if (subject === undefined || subject === '') return undefined
  if (what === 'released') return { kind: 'released', name: subject }
  if (what === 'members') return { kind: 'members', group: subject }
  return undefined
}
