/**
 * Carries out the engine's calls: sends each, bounds it by its timeout, and answers with a reply. What an answer claims is checked here:
 * a backend that answers nonsense has failed.
 */
import type {
  AcquireReply,
  CallOptions,
  JoinReply,
  KeepAliveReply,
  LeaseBackend,
  OpenedSession,
  SessionId,
} from '../backend.js'
import type { Request } from '../engine/effect.js'
import type { Reply } from '../engine/event.js'
import { unreachable } from '../engine/state.js'
import { BackendError } from '../errors.js'
import type { FlatError } from '../events.js'
import type { Clock } from './clock.js'
import { flattenError } from './flat-error.js'
import type { TimerHeap } from './timer-heap.js'

export class BackendCalls {
  private readonly inFlight = new Map<number, AbortController>()

  constructor(
    private readonly backend: LeaseBackend,
    private readonly asked: { readonly leaseMs: number; readonly metadata: string },
    private readonly clock: Clock,
    private readonly timers: TimerHeap,
    private readonly onReply: (reply: Reply) => void,
  ) {}

  send(request: Request, timeoutMs: number): void {
    const { id } = request
    const controller = new AbortController()
    const timer = `call:${id}`
    const sentAt = this.clock.now()
    this.inFlight.set(id, controller)
    const reply = (outcome: Reply['outcome']) => this.onReply(replyTo(request, sentAt, outcome))
    const inTime = () => {
      if (!this.inFlight.delete(id)) return false
      this.timers.disarm(timer)
      return true
    }
    this.timers.arm(timer, sentAt + timeoutMs, () => {
      if (!inTime()) return
      const error = new BackendError(
        `${this.describe(request)} got no answer within ${Math.round(timeoutMs)} ms.`,
      )
      controller.abort(error)
      reply({ ok: false, error: flattenError(error), timedOut: true })
    })
    // A signal costs more than the rest of a call, and is made when a backend first looks at it.
    const call: CallOptions = {
      get signal() {
        return controller.signal
      },
      timeoutMs,
    }
    void this.ask(request, call).then(
      (value) => {
        inTime() // a success that came too late is passed on all the same: what it won must be given back
        reply({ ok: true, value })
      },
      (error: unknown) => {
        if (inTime()) reply({ ok: false, error: this.explain(request, error), timedOut: false })
      },
    )
  }

  /** Gives up all calls in flight; nothing is answered any more. */
  close(): void {
    const reason = new BackendError('The client was closed before the backend answered.')
    for (const [id, controller] of [...this.inFlight]) {
      this.inFlight.delete(id)
      controller.abort(reason)
    }
  }

  /** Async, so that a backend that throws has failed like one that rejects. */
  private async ask(request: Request, call: CallOptions): Promise<ReplyValue> {
    const { backend } = this
    switch (request.op) {
      case 'openSession':
        return checkOpened(await backend.openSession(this.asked, call))
      case 'keepAlive':
        return checkKeepAlive(await backend.keepAlive(request.session, call))
      case 'closeSession':
        return void (await backend.closeSession(request.session, call))
      case 'acquire':
        return checkAcquire(await backend.acquire(request.session, request.name, call))
      case 'release':
        return void (await backend.release(request.session, request.name, request.token, call))
      case 'join':
        return checkJoin(await backend.join(request.session, request.group, call))
      case 'leave':
        return void (await backend.leave(request.session, request.group, call))
      case 'members':
        return checkMembers(await backend.members(request.group, call))
      default:
        return unreachable(request)
    }
  }

  private describe(request: Request): string {
    const subject = 'name' in request ? ` "${request.name}"` : 'group' in request ? ` "${request.group}"` : ''
    return `${this.backend.name}: ${request.op}${subject}`
  }

  private explain(request: Request, error: unknown): FlatError {
    const cause = flattenError(error)
    if (cause.code === 'SIMBA_BACKEND') return cause
    const why = cause.message || cause.code || cause.name
    return { ...flattenError(new BackendError(`${this.describe(request)} failed: ${why}`)), cause }
  }
}

type ReplyValue = Extract<Reply['outcome'], { readonly ok: true }>['value']

/** Request and value belong together, being of one call; that is more than the compiler can follow. */
function replyTo(request: Request, sentAt: number, outcome: Reply['outcome']): Reply {
  return { type: 'reply', op: request.op, request, sentAt, outcome } as Reply
}

function checkOpened(value: OpenedSession): OpenedSession {
  if (typeof value?.id !== 'string' || value.id === '')
    nonsense('openSession', '{ id: string, remainingMs: number }', value)
  checkRemaining('openSession', value.remainingMs)
  return value
}

function checkRemaining(op: string, remainingMs: unknown): void {
  if (typeof remainingMs !== 'number' || !Number.isFinite(remainingMs))
    nonsense(op, 'a finite remainingMs', remainingMs)
}

function checkKeepAlive(value: KeepAliveReply): KeepAliveReply {
  if (value?.kind === 'expired') return value
  if (value?.kind !== 'renewed' || !Array.isArray(value.owned)) {
    nonsense('keepAlive', "'expired', or 'renewed' with remainingMs and owned", value)
  }
  checkRemaining('keepAlive', value.remainingMs)
  for (const lease of value.owned) {
    if (typeof lease.name !== 'string') nonsense('keepAlive', 'a name for each owned lease', lease.name)
    checkToken('keepAlive', lease.token)
  }
  return value
}

function checkToken(op: string, token: unknown): void {
  if (typeof token !== 'bigint' || token <= 0n) nonsense(op, 'a token that is a bigint greater than 0', token)
}

function checkAcquire(value: AcquireReply): AcquireReply {
  if (value?.kind === 'granted') checkToken('acquire', value.token)
  else if (value?.kind !== 'held' && value?.kind !== 'expired')
    nonsense('acquire', "'granted', 'held' or 'expired'", value)
  return value
}

function checkJoin(value: JoinReply): JoinReply {
  if (value?.kind !== 'joined' && value?.kind !== 'expired') nonsense('join', "'joined' or 'expired'", value)
  return value
}

function checkMembers(value: readonly SessionId[]): readonly SessionId[] {
  if (!Array.isArray(value) || !value.every((member) => typeof member === 'string')) {
    nonsense('members', 'a list of session ids', value)
  }
  return value
}

function nonsense(op: string, wanted: string, given: unknown): never {
  throw new BackendError(`The backend's answer to ${op} was ${show(given)}; it must be ${wanted}.`)
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value)
}
