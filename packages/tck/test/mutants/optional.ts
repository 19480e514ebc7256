import type {
  AcquireReply,
  CallOptions,
  Hint,
  HintSubscription,
  Inspection,
  InspectScope,
  OpenedSession,
  Session,
  SessionId,
} from '@simba/core'
import { Delegating, type Mutant } from './delegating.js'

/** Lets hints through, or not. */
abstract class OtherHints extends Delegating {
  override hints(listener: (hint: Hint) => void): HintSubscription {
    return this.inner.hints((hint) => {
      if (this.passes(hint)) listener(hint)
    })
  }

  protected passes(_: Hint): boolean {
    return true
  }
}

export const hintMutants: readonly Mutant[] = [
  {
    defect: 'no hint comes after closeSession',
    caught: 'a released hint comes for a watched lease after closeSession of its owner',
    rule: '"hints"',
    make: class extends OtherHints {
      #closing = false

      override async closeSession(session: Session, call: CallOptions): Promise<void> {
        this.#closing = true
        await this.inner.closeSession(session, call)
        await Promise.resolve()
        this.#closing = false
      }

      protected override passes(): boolean {
        return !this.#closing
      }
    },
  },
  {
    defect: 'no hint comes after a leave',
    caught: 'a members hint comes for a watched group after a leave',
    rule: '"hints"',
    make: class extends OtherHints {
      readonly #left = new Set<string>()

      override async leave(session: Session, group: string, call: CallOptions): Promise<void> {
        this.#left.add(group)
        await this.inner.leave(session, group, call)
        await Promise.resolve()
        this.#left.delete(group)
      }

      protected override passes(hint: Hint): boolean {
        return hint.kind !== 'members' || !this.#left.has(hint.group)
      }
    },
  },
  {
    defect: 'a subscription takes ten topics at most',
    caught: 'every one of fifty watched leases gets its hints',
    rule: '"hints"',
    make: class extends Delegating {
      override hints(listener: (hint: Hint) => void): HintSubscription {
        const inner = this.inner.hints(listener)
        let count = 0
        return {
          watch: (topic) => {
            if (count++ < 10) inner.watch(topic)
          },
          unwatch: (topic) => inner.unwatch(topic),
          close: () => inner.close(),
        }
      }
    },
  },
  {
    defect: 'unwatch is ignored',
    caught: 'no hint comes any more once a topic is not watched',
    rule: '"hints"',
    make: class extends Delegating {
      override hints(listener: (hint: Hint) => void): HintSubscription {
        const inner = this.inner.hints(listener)
        return { watch: (topic) => inner.watch(topic), unwatch: () => {}, close: () => inner.close() }
      }
    },
  },
  {
    defect: 'hints go on after close of the subscription',
    caught: 'no hint comes any more after close of the subscription',
    rule: '"hints"',
    make: class extends Delegating {
      override hints(listener: (hint: Hint) => void): HintSubscription {
        const inner = this.inner.hints(listener)
        return {
          watch: (topic) => inner.watch(topic),
          unwatch: (topic) => inner.unwatch(topic),
          close: async () => {},
        }
      }
    },
  },
  {
    defect: 'watch throws after close',
    caught: 'watch, unwatch and close are idempotent, never throw',
    rule: 'closed already',
    make: class extends Delegating {
      override hints(listener: (hint: Hint) => void): HintSubscription {
        const inner = this.inner.hints(listener)
        let open = true
        return {
          watch: (topic) => {
            if (!open) throw new Error('closed already')
            inner.watch(topic)
          },
          unwatch: (topic) => inner.unwatch(topic),
          close: () => {
            open = false
            return inner.close()
          },
        }
      }
    },
  },
]

export const inspectMutants: readonly Mutant[] = [
  {
    defect: 'inspect lists sessions that are over',
    caught: 'it does not list sessions that have expired or were closed',
    rule: '"inspect"',
    make: class extends Delegating {
      readonly #ever: OpenedSession[] = []

      override async openSession(request: { leaseMs: number; metadata: string }, call: CallOptions) {
        const opened = await this.inner.openSession(request, call)
        this.#ever.push(opened)
        return opened
      }

      override async inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
        const inspection = await this.inner.inspect(scope, call)
        const live = new Set(inspection.sessions.map(({ id }) => id))
        const over = this.#ever.filter(({ id }) => !live.has(id))
        const sessions = over.map((opened) => ({ ...opened, metadata: '{}' }))
        return { ...inspection, sessions: [...inspection.sessions, ...sessions] }
      }
    },
  },
  {
    defect: 'inspect cuts the metadata',
    caught: 'it lists live sessions with their metadata and remaining time',
    rule: '"metadata"',
    make: class extends Delegating {
      override async inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
        const inspection = await this.inner.inspect(scope, call)
        const cut = (text: string) => Buffer.from(text).subarray(0, 1024).toString()
        const sessions = inspection.sessions.map((session) => ({
          ...session,
          metadata: cut(session.metadata),
        }))
        return { ...inspection, sessions }
      }
    },
  },
  {
    defect: 'inspect ignores its scope',
    caught: 'with the scope of one lease it lists that lease only',
    rule: '"inspect"',
    make: class extends Delegating {
      override inspect(_: InspectScope, call: CallOptions): Promise<Inspection> {
        return this.inner.inspect({ kind: 'all' }, call)
      }
    },
  },
  {
    defect: 'inspect lists a free lease with its last holder',
    caught: 'it lists leases with holder and token, and a free lease without a holder',
    rule: '"inspect"',
    make: class extends Delegating {
      readonly #terms = new Map<string, { readonly holder: SessionId; readonly token: bigint }>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind === 'granted') this.#terms.set(name, { holder: session.id, token: reply.token })
        return reply
      }

      override async inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
        const { sessions, groups } = await this.inner.inspect(scope, call)
        const leases = [...this.#terms].map(([name, term]) => ({ name, ...term }))
        return {
          sessions,
          groups,
          leases: scope.kind === 'all' ? leases : leases.filter(({ name }) => name === scope.name),
        }
      }
    },
  },
  {
    defect: 'inspect lists no groups',
    caught: 'it lists groups with their live members',
    rule: '"inspect"',
    make: class extends Delegating {
      override async inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
        return { ...(await this.inner.inspect(scope, call)), groups: [] }
      }
    },
  },
  {
    defect: 'inspect renews what it finds',
    caught: 'it changes nothing',
    rule: '"inspect"',
    make: class extends Delegating {
      override async inspect(scope: InspectScope, call: CallOptions): Promise<Inspection> {
        for (const { id } of this.inner.contents().sessions)
          await this.inner.keepAlive({ id, leaseMs: 30_000 }, call)
        return this.inner.inspect(scope, call)
      }
    },
  },
]

export const callMutants: readonly Mutant[] = [
  {
    defect: 'a call with an aborted signal hangs',
    caught: 'a call whose signal has aborted before it rejects or answers',
    rule: '"calls"',
    make: class extends Delegating {
      override members(group: string, call: CallOptions): Promise<readonly SessionId[]> {
        return call.signal.aborted ? new Promise(() => {}) : this.inner.members(group, call)
      }
    },
  },
  {
    defect: 'a call never settles',
    caught: 'a group that nobody joined has no members',
    rule: '"calls"',
    make: class extends Delegating {
      override members(): Promise<readonly SessionId[]> {
        return new Promise(() => {})
      }
    },
  },
  {
    defect: 'an acquire that was aborted gives another token than the next one',
    caught: 'B7: an acquire that was aborted can be repeated',
    rule: 'B7',
    make: class extends Delegating {
      readonly #seen = new Set<string>()

      override async acquire(session: Session, name: string, call: CallOptions): Promise<AcquireReply> {
        const reply = await this.inner.acquire(session, name, call)
        if (reply.kind !== 'granted' || !call.signal.aborted || this.#seen.has(name)) return reply
        this.#seen.add(name)
        return { kind: 'granted', token: reply.token + 1n }
      }
    },
  },
  {
    defect: 'close rejects the second time',
    caught: 'close of the backend is idempotent',
    rule: 'closed already',
    make: class extends Delegating {
      #closed = false

      override async close(): Promise<void> {
        if (this.#closed) throw new Error('closed already')
        this.#closed = true
      }
    },
  },
  {
    defect: 'close ends the sessions of other backend objects',
    caught: 'close of one backend object leaves another on the same storage alone',
    rule: '"backend close"',
    make: class extends Delegating {
      override async close(): Promise<void> {
        this.inner.loseData()
      }
    },
  },
  {
    defect: 'the backend has no name',
    caught: 'the backend has a name for messages',
    rule: '"calls"',
    make: class extends Delegating {
      override readonly name = ''
    },
  },
]
