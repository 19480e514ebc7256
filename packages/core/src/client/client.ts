/**
 * The user's side of the shell: takes commands to the engine's side, and its notices to those whom they concern. What it knows of the
 * session and of elections it knows from notices alone.
 */
import type { SessionId } from '../backend.js'
import type { Config, Logger } from '../config.js'
import type { Command, ElectionKind } from '../engine/event.js'
import { unreachable } from '../engine/state.js'
import type { Timing } from '../engine/timing.js'
import { AlreadyStartedError, ClosedError } from '../errors.js'
import type { SimbaEvent } from '../events.js'
import type { Clock } from '../runtime/clock.js'
import { EngineLoop, type Notice } from '../runtime/engine-loop.js'
import { TimerHeap } from '../runtime/timer-heap.js'
import { ValidityTable } from '../runtime/validity.js'
import { AbortListeners } from './abort-listeners.js'
import { Candidacy, type CandidacyHooks } from './candidacy.js'
import { EventHub } from './event-hub.js'
import { LiveTerm } from './live-term.js'
import { SessionView } from './session-view.js'

/** What a name is in use for on this client. */
export type NameUse = 'election' | 'lock' | 'task' | 'iteration' | 'partition'

/** Who is told about a group that was joined. */
export interface GroupListener {
  onMembers(session: SessionId | undefined, members: readonly SessionId[]): void
  onLeft(): void
}

export class Client {
  readonly timers: TimerHeap
  readonly events: EventHub
  readonly session: SessionView
  readonly aborts: AbortListeners = new AbortListeners()
  readonly candidacies: Map<string, Candidacy> = new Map()
  readonly groups: Map<string, GroupListener> = new Map()
  readonly uses: Map<string, NameUse> = new Map()
  private readonly validity = new ValidityTable()
  private readonly loop: EngineLoop
  private readonly offJump: (() => void) | undefined
  private readonly closingListeners: (() => void)[] = []
  private nextStart = 1
  private closing: Promise<void> | undefined
  private engineClosed: (leftMs: number) => void = () => {}

  constructor(
    readonly config: Config,
    readonly clock: Clock,
    seed: number,
  ) {
    const { backend, timing, metadata, logger } = config
    this.timers = new TimerHeap(clock)
    this.events = new EventHub(logger)
    this.session = new SessionView(clock, () => this.post({ type: 'boot' }))
    this.offJump = clock.onJump?.(() => this.timers.recheck())
    const { timers, validity } = this
    const onNotice = (notice: Notice) => this.onNotice(notice)
    this.loop = new EngineLoop({ backend, timing, metadata, clock, timers, seed, validity, onNotice })
  }

  get timing(): Timing {
    return this.config.timing
  }

  get logger(): Logger {
    return this.config.logger
  }

  get isClosing(): boolean {
    return this.closing !== undefined
  }

  /** @throws ClosedError */
  ensureOpen(call: string): void {
    if (this.closing === undefined) return
    throw new ClosedError(`${call}: this client is closed. Make a new Simba to go on.`)
  }

  /** Calls back when the client begins to close, before anything ends. */
  onClosing(listener: () => void): void {
    this.closingListeners.push(listener)
  }

  post(command: Command): void {
    this.loop.post(command)
  }

  /**
   * Marks a name as in use.
   *
   * @throws AlreadyStartedError
   */
  reserve(name: string, use: NameUse): void {
    const used = this.uses.get(name)
    if (used !== undefined) {
      throw new AlreadyStartedError(
        `"${name}" is already started on this client, as ${used === 'election' || used === 'iteration' ? 'an' : 'a'} ${used}. Wait for its stop to settle before starting it again, or use another name.`,
      )
    }
    this.uses.set(name, use)
  }

  unreserve(name: string): void {
    this.uses.delete(name)
  }

  /**
   * Starts a name that has been reserved, until it is stopped, or the signal aborts (`aborted` is told first). At its end the name is
   * free again, unless it belongs to a lock or a group, which lives longer.
   */
  begin(
    name: string,
    kind: ElectionKind,
    hooks: CandidacyHooks,
    signal?: AbortSignal,
    aborted?: () => void,
  ): Candidacy {
    const candidacy = new Candidacy(name, this.nextStart++, kind, this, hooks)
    if (signal !== undefined) candidacy.follow(signal, this.aborts, aborted)
    this.candidacies.set(name, candidacy)
    this.session.needed()
    this.post({ type: 'start', name, start: candidacy.start, kind })
    return candidacy
  }

  forget(candidacy: Candidacy): void {
    const { name } = candidacy
    // A lock's next one has begun already.
    if (this.candidacies.get(name) !== candidacy) return
    this.candidacies.delete(name)
    const use = this.uses.get(name)
    if (use !== 'lock' && use !== 'partition') this.uses.delete(name)
  }

  newStart(): number {
    return this.nextStart++
  }

  /** Time until the session's deadline in ms; 0 without one. */
  sessionRemaining(): number {
    return Math.max(0, this.validity.deadline - this.clock.now())
  }

  publish(event: SimbaEvent): void {
    this.events.publish(event)
  }

  /** Reports what a callback of the user threw. */
  callbackFailed(callback: 'onElected' | 'onRevoked', name: string, error: unknown): void {
    this.publish({ type: 'CallbackFailed', callback, name, error })
  }

  /**
   * Ends everything, each once. A call from inside a run or callback does not wait, since that would wait for itself.
   */
  close(force: boolean): Promise<void> {
    const inside = this.calledFromInside()
    if (this.closing === undefined) this.closing = this.shutDown(force)
    else if (force) this.post({ type: 'close', force })
    return inside ? Promise.resolve() : this.closing
  }

  private calledFromInside(): boolean {
    for (const candidacy of this.candidacies.values()) {
      if (candidacy.calledFromInside()) return true
    }
    return false
  }

  private async shutDown(force: boolean): Promise<void> {
    const settled = [...this.candidacies.values()].map((candidacy) => candidacy.done)
    const leftMs = await new Promise<number>((resolve) => {
      this.engineClosed = resolve
      for (const listener of this.closingListeners) listener()
      this.post({ type: 'close', force })
    })
    this.session.close()
    // Callbacks of the user are waited for too, but no longer than the backend may take.
    await new Promise<void>((resolve) => {
      this.timers.arm(Symbol('close'), this.clock.now() + leftMs, () => resolve())
      void Promise.allSettled([this.loop.shutDown(), ...settled]).then(() => resolve())
    })
    this.timers.clear()
    this.offJump?.()
    this.events.close()
  }

  private onNotice(notice: Notice): void {
    switch (notice.type) {
      case 'elected': {
        const { name, token, term, cell } = notice
        const live = new LiveTerm(name, token, term, cell, this.validity, this.clock)
        this.candidacyOf(notice)?.onElected(live)
        return
      }
      case 'revoked':
        this.candidacyOf(notice)?.onRevoked(notice.reason)
        return
      case 'attempted':
        this.candidacyOf(notice)?.onAttempted(notice.outcome)
        return
      case 'members':
        this.groups.get(notice.group)?.onMembers(notice.session, notice.members)
        return
      case 'complete': {
        const { completion } = notice
        if (completion.kind === 'close') this.engineClosed(completion.leftMs)
        else if (completion.kind === 'groupStop') this.groups.get(completion.group)?.onLeft()
        else this.candidacyOf(completion)?.onComplete(completion)
        return
      }
      case 'publish':
        this.session.onEvent(notice.event)
        this.publish(notice.event)
        return
      default:
        unreachable(notice)
    }
  }

  private candidacyOf(of: { readonly name: string; readonly start: number }): Candidacy | undefined {
    const candidacy = this.candidacies.get(of.name)
    return candidacy?.start === of.start ? candidacy : undefined
  }
}
