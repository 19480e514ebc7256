/** Who watches what, and what each was told last: a hint is for a change, so that none comes for the same state again. */
import type { Hint, HintSubscription, HintTopic } from '@simba/core'
import { bigintOf, textOf } from '../rows.js'
import { watchedLeases, watchedMembers } from './statements.js'
import { rowsOf, type Steps } from './steps.js'

/** What is known of a topic, to be compared; `undefined` before the first look. */
type Seen = string | undefined

interface Watched {
  readonly topic: HintTopic
  seen: Seen
}

interface Subscriber {
  readonly listener: (hint: Hint) => void
  readonly watched: Map<string, Watched>
}

/** What the database says about topics, by key. */
export type TopicStates = ReadonlyMap<string, string>

const HELD = 'held'

export class WatchedTopics {
  readonly #subscribers = new Set<Subscriber>()
  /** `onWatched`: of something new; `onNoneWatched`: nothing is left. */
  readonly #demand: { onWatched(): void; onNoneWatched(): void }

  constructor(demand: { onWatched(): void; onNoneWatched(): void }) {
    this.#demand = demand
  }

  subscribe(listener: (hint: Hint) => void): HintSubscription {
    const subscriber: Subscriber = { listener, watched: new Map() }
    let open = true
    this.#subscribers.add(subscriber)
    return {
      watch: (topic) => {
        const key = keyOf(topic)
        if (!open || subscriber.watched.has(key)) return
        subscriber.watched.set(key, { topic, seen: undefined })
        this.#demand.onWatched()
      },
      unwatch: (topic) => {
        if (subscriber.watched.delete(keyOf(topic))) this.#dropped()
      },
      close: async () => {
        if (!open) return
        open = false
        this.#subscribers.delete(subscriber)
        subscriber.watched.clear()
        this.#dropped()
      },
    }
  }

  /** Reads all that is watched. */
  *read(): Steps<TopicStates> {
    const names = new Set<string>()
    const groups = new Set<string>()
    for (const { watched } of this.#subscribers) {
      for (const { topic } of watched.values()) {
        if (topic.kind === 'lease') names.add(topic.name)
        else groups.add(topic.group)
      }
    }
    const states = new Map<string, string>()
    for (const row of names.size === 0 ? [] : yield* rowsOf(watchedLeases([...names]))) {
      const name = textOf(row, 'name')
      const free = textOf(row, 'session_id') === ''
      // With the token, since a lease that was taken and released between two looks is free again, but anew.
      states.set(keyOf({ kind: 'lease', name }), free ? `free after ${bigintOf(row, 'token')}` : HELD)
    }
    for (const row of groups.size === 0 ? [] : yield* rowsOf(watchedMembers([...groups]))) {
      const key = keyOf({ kind: 'group', group: textOf(row, 'group_name') })
      states.set(key, `${states.get(key) ?? ''} ${textOf(row, 'session_id')}`)
    }
    return states
  }

  /** Tells everybody what is news to them. */
  deliver(states: TopicStates): void {
    for (const { watched, listener } of [...this.#subscribers]) {
      for (const [key, entry] of [...watched]) {
        // A listener may have ended it meanwhile.
        if (watched.get(key) !== entry) continue
        const { topic, seen } = entry
        entry.seen = states.get(key) ?? (topic.kind === 'lease' ? HELD : '')
        if (entry.seen === seen) continue
        if (topic.kind === 'lease') {
          if (entry.seen !== HELD) listener({ kind: 'released', name: topic.name })
        } else if (seen !== undefined) listener({ kind: 'members', group: topic.group })
      }
    }
  }

  #dropped(): void {
    for (const { watched } of this.#subscribers) if (watched.size > 0) return
    this.#demand.onNoneWatched()
  }
}

function keyOf(topic: HintTopic): string {
  return topic.kind === 'lease' ? `lease ${topic.name}` : `group ${topic.group}`
}
