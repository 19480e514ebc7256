/** Releases and changes of groups, as PostgreSQL tells of them: LISTEN on one connection for each backend, opened when something is watched. */
import type { Hint, HintSubscription, HintTopic } from '@simba/core'
import type { Cancel, Runtime } from '../runtime.js'
import { channelOf, hintOf } from './channels.js'
import type { Listener, PostgresPool } from './pool.js'

/** How long to wait before the next try to connect; doubled after each that fails. */
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5_000
/** A notification to oneself comes back at once, unless there is a pooler in between that keeps it. */
const PROBE_MS = 2_000
const PROBE = 'probe '

type State =
  | { readonly phase: 'idle' }
  | { readonly phase: 'connecting' }
  | { readonly phase: 'waiting'; readonly cancel: Cancel }
  | { readonly phase: 'listening'; readonly listener: Listener; readonly channels: Set<string> }
  /** Notifications do not come through: candidates try at their intervals. */
  | { readonly phase: 'unavailable' }

interface Watched {
  readonly topic: HintTopic
  /** Not listened to yet: what happens until then is not heard of. */
  missed: boolean
}

interface Subscriber {
  readonly listener: (hint: Hint) => void
  readonly topics: Map<string, Watched>
}

export class PostgresHints {
  readonly #pool: PostgresPool
  readonly #runtime: Runtime
  readonly #subscribers = new Set<Subscriber>()
  #state: State = { phase: 'idle' }
  #failures = 0
  #probe: { readonly payload: string; readonly cancel: Cancel } | undefined
  #probed = false

  constructor(pool: PostgresPool, runtime: Runtime) {
    this.#pool = pool
    this.#runtime = runtime
  }

  subscribe(listener: (hint: Hint) => void): HintSubscription {
    const subscriber: Subscriber = { listener, topics: new Map() }
    this.#subscribers.add(subscriber)
    return {
      watch: (topic) => {
        if (!this.#subscribers.has(subscriber)) return
        if (subscriber.topics.has(keyOf(topic))) return
        subscriber.topics.set(keyOf(topic), { topic, missed: !this.#isHeard(topic) })
        this.#update()
      },
      unwatch: (topic) => {
        if (subscriber.topics.delete(keyOf(topic))) this.#update()
      },
      close: async () => {
        if (!this.#subscribers.delete(subscriber)) return
        if (this.#subscribers.size === 0) await this.#stop()
        else this.#update()
      },
    }
  }

  /** Listens to what is watched and to nothing else. */
  #update(): void {
    const wanted = this.#wanted()
    if (this.#state.phase === 'idle' && wanted.size > 0) this.#connect()
    if (this.#state.phase !== 'listening') return
    const { listener, channels } = this.#state
    const commands = [
      ...[...wanted].filter((channel) => !channels.has(channel)).map((channel) => `listen ${channel}`),
      ...[...channels].filter((channel) => !wanted.has(channel)).map((channel) => `unlisten ${channel}`),
    ]
    if (commands.length === 0) return
    channels.clear()
    for (const channel of wanted) channels.add(channel)
    // One that fails is followed by the loss of the connection, and all is listened to anew.
    listener.run(commands.join('; ')).then(
      () => this.#look(listener),
      () => this.#lost(listener),
    )
  }

  #wanted(): Set<string> {
    const wanted = new Set<string>()
    for (const { topics } of this.#subscribers)
      for (const { topic } of topics.values()) wanted.add(channelOf(topic))
    return wanted
  }

  #connect(): void {
    const connecting: State = { phase: 'connecting' }
    this.#state = connecting
    let opened: Listener | undefined
    const events = {
      onNotification: (channel: string, payload: string) => this.#hear(channel, payload),
      onLost: () => {
        if (opened !== undefined) this.#lost(opened)
      },
    }
    this.#pool.listen(events).then(
      (listener) => {
        opened = listener
        if (this.#state !== connecting) {
          void listener.close()
          return
        }
        this.#failures = 0
        this.#state = { phase: 'listening', listener, channels: new Set() }
        this.#update()
      },
      () => {
        if (this.#state === connecting) this.#retry()
      },
    )
  }

  #isHeard(topic: HintTopic): boolean {
    return this.#state.phase === 'listening' && this.#state.channels.has(channelOf(topic))
  }

  #lost(listener: Listener): void {
    if (this.#state.phase !== 'listening' || this.#state.listener !== listener) return
    for (const { topics } of this.#subscribers) for (const watched of topics.values()) watched.missed = true
    void listener.close()
    this.#endProbe()
    this.#retry()
  }

  #retry(): void {
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS)
    this.#failures += 1
    const cancel = this.#runtime.setIdleTimer(
      () => {
        this.#state = { phase: 'idle' }
        this.#update()
      },
      delayMs * (0.5 + this.#runtime.random() / 2),
    )
    this.#state = { phase: 'waiting', cancel }
  }

  /** What happened before the server knew of the listening is not told of any more: let those look who may have missed it. */
  #look(listener: Listener): void {
    if (this.#state.phase !== 'listening' || this.#state.listener !== listener) return
    for (const { topics, listener: tell } of [...this.#subscribers]) {
      for (const watched of [...topics.values()].filter(({ missed }) => missed)) {
        const { topic } = watched
        watched.missed = false
        if (topic.kind === 'lease') tell({ kind: 'released', name: topic.name })
        else tell({ kind: 'members', group: topic.group })
      }
    }
    if (!this.#probed) this.#sendProbe(listener)
  }

  #sendProbe(listener: Listener): void {
    if (this.#probe !== undefined || this.#state.phase !== 'listening') return
    const [channel] = this.#state.channels
    if (channel === undefined) return
    const payload = `${PROBE}${this.#runtime.newSessionId()}`
    this.#probe = { payload, cancel: this.#runtime.setIdleTimer(() => this.#giveUp(listener), PROBE_MS) }
    listener.run(`notify ${channel}, '${payload}'`).catch(() => this.#lost(listener))
  }

  #endProbe(): void {
    this.#probe?.cancel()
    this.#probe = undefined
  }

  #giveUp(listener: Listener): void {
    this.#endProbe()
    this.#state = { phase: 'unavailable' }
    void listener.close()
    this.#runtime.warn(
      'postgres: notifications do not come through, probably since a pooler is in between. Simba works without; a waiting node takes ' +
        'over at its next attempt. Give `hints: false` to say that this is known, or a pool that reaches the server.',
    )
  }

  #hear(channel: string, payload: string): void {
    if (this.#state.phase !== 'listening' || !this.#state.channels.has(channel)) return
    if (payload === this.#probe?.payload) {
      this.#probed = true
      this.#endProbe()
      return
    }
    const hint = hintOf(payload)
    if (hint === undefined) return
    const key = hint.kind === 'released' ? `lease ${hint.name}` : `group ${hint.group}`
    for (const { topics, listener } of [...this.#subscribers]) if (topics.has(key)) listener(hint)
  }

  async #stop(): Promise<void> {
    this.#endProbe()
    const state = this.#state
    if (state.phase === 'unavailable') return
    this.#state = { phase: 'idle' }
    if (state.phase === 'waiting') state.cancel()
    if (state.phase === 'listening') await state.listener.close()
  }
}

function keyOf(topic: HintTopic): string {
  return topic.kind === 'lease' ? `lease ${topic.name}` : `group ${topic.group}`
}
