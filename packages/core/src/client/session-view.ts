/** The session as the user's side knows it, from its events. */
import type { SessionId } from '../backend.js'
import { ClosedError } from '../errors.js'
import type { SimbaEvent } from '../events.js'
import type { Clock } from '../runtime/clock.js'

/**
 * - `OPENING`: no session yet, or a new one is being opened after the last one ended.
 * - `LIVE`: the last renewal succeeded.
 * - `SUSPENDED`: the last renewal failed, and the deadline has not passed.
 * - `CLOSED`: the client is closed.
 */
export type SessionState = 'OPENING' | 'LIVE' | 'SUSPENDED' | 'CLOSED'

export class SessionView {
  state: SessionState = 'OPENING'
  id: SessionId | undefined
  /** When the client began to be without a session; `undefined` while it has one, or has needed none. */
  missingSince: number | undefined
  private readonly waiters = new Set<(error?: ClosedError) => void>()

  constructor(
    private readonly clock: Clock,
    private readonly boot: () => void,
  ) {}

  /** A session is needed from now on. */
  needed(): void {
    if (this.state !== 'OPENING' || this.missingSince !== undefined) return
    this.missingSince = this.clock.now()
    this.boot()
  }

  onEvent(event: SimbaEvent): void {
    switch (event.type) {
      case 'SessionOpened':
        this.id = event.session
        this.live()
        return
      case 'SessionResumed':
        this.live()
        return
      case 'SessionSuspended':
        this.state = 'SUSPENDED'
        return
      case 'SessionEnded':
        this.id = undefined
        this.state = event.reason === 'CLOSED' ? 'CLOSED' : 'OPENING'
        this.missingSince = this.clock.now()
        return
      default:
        return
    }
  }

  /** Calls back when the session is live, or the client closed; returns the end of the wait. */
  whenLive(callback: (error?: ClosedError) => void): () => void {
    this.waiters.add(callback)
    return () => this.waiters.delete(callback)
  }

  close(): void {
    this.state = 'CLOSED'
    this.id = undefined
    this.release(new ClosedError('ready(): the client was closed before its session was live.'))
  }

  private live(): void {
    this.state = 'LIVE'
    this.missingSince = undefined
    this.release()
  }

  private release(error?: ClosedError): void {
    for (const waiter of [...this.waiters]) waiter(error)
    this.waiters.clear()
  }
}
