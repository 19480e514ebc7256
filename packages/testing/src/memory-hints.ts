import type { Clock, Hint, HintSubscription, HintTopic } from '@simba/core'
import { planOf } from './fault-plan.js'
import type { Faults, FaultTarget } from './faults.js'

interface Subscriber {
  readonly client: string
  readonly listener: (hint: Hint) => void
}

/** Who watches what, and the delivery of hints: in a later microtask, or as the faults for `hint` say. */
export class MemoryHints {
  readonly #faults: Faults
  readonly #clock: Clock
  /** Only topics that somebody watches have an entry. */
  readonly #watchers = new Map<string, Set<Subscriber>>()
  /** Counts drops: hints on their way from before one are lost. */
  #epoch = 0

  constructor(faults: Faults, clock: Clock) {
    this.#faults = faults
    this.#clock = clock
  }

  subscribe(client: string, listener: (hint: Hint) => void): HintSubscription {
    const subscriber = { client, listener }
    const watched = new Set<string>()
    let open = true
    const unwatch = (key: string) => {
      watched.delete(key)
      const watchers = this.#watchers.get(key)
      watchers?.delete(subscriber)
      if (watchers?.size === 0) this.#watchers.delete(key)
    }
    return {
      watch: (topic) => {
        if (!open) return
        const key = keyOf(topic)
        watched.add(key)
        const watchers = this.#watchers.get(key)
        if (watchers === undefined) this.#watchers.set(key, new Set([subscriber]))
        else watchers.add(subscriber)
      },
      unwatch: (topic) => unwatch(keyOf(topic)),
      close: async () => {
        open = false
        for (const key of [...watched]) unwatch(key)
      },
    }
  }

  publish(hint: Hint): void {
    const key = hint.kind === 'released' ? `lease ${hint.name}` : `group ${hint.group}`
    for (const subscriber of this.#watchers.get(key) ?? []) this.#send(subscriber, key, hint)
  }

  /** Loses the hints that are on their way. */
  dropPending(): void {
    this.#epoch++
  }

  #send(subscriber: Subscriber, key: string, hint: Hint): void {
    const name = hint.kind === 'released' ? hint.name : hint.group
    const target: FaultTarget = { on: 'hint', client: subscriber.client, name }
    const plan = planOf(this.#faults.meet(target), target)
    if (plan.loseRequest) return
    const epoch = this.#epoch
    const deliver = () => {
      if (epoch !== this.#epoch || this.#watchers.get(key)?.has(subscriber) !== true) return
      subscriber.listener(hint)
    }
    for (const ms of [0, ...plan.repeatMs]) {
      if (plan.requestMs + ms === 0) queueMicrotask(deliver)
      else this.#clock.setTimer(deliver, plan.requestMs + ms)
    }
  }
}

function keyOf(topic: HintTopic): string {
  return topic.kind === 'lease' ? `lease ${topic.name}` : `group ${topic.group}`
}
