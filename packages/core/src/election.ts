/** An election: of all the nodes that start the same name, one at a time leads. */
import { checkFunction, checkKeys } from './arguments.js'
import { Callbacks, checkListener, type ElectionListener } from './client/callbacks.js'
import type { Candidacy, CandidacyHooks } from './client/candidacy.js'
import type { Client, NameUse } from './client/client.js'
import { findHolder, type Holder } from './client/inspect.js'
import {
  CandidacyTask,
  type LeaderTask,
  stopUnlessInside,
  type TaskBody,
  TaskRuns,
} from './client/leader-task.js'
import { TermIterator } from './client/term-iterator.js'
import { runOnce, runScheduled, type Work } from './client/work.js'
import { type Duration, toMs } from './duration.js'
import type { ElectionKind } from './engine/event.js'
import { ConfigError } from './errors.js'
import { Schedule } from './schedule.js'
import type { Term } from './term.js'

export interface StartOptions {
  /** Stops what is started when it aborts. */
  readonly signal?: AbortSignal
}

/** Made by `simba.election(name)`. Handles are cheap and stateless: two of one name are the same election. */
export class Election {
  constructor(
    private readonly client: Client,
    readonly name: string,
  ) {}

  /** The term of this client that has not been revoked, however the name was started. Read its `isValid` before you act on it. */
  get term(): Term | undefined {
    return this.client.candidacies.get(this.name)?.term
  }

  /**
   * Competes until `stop()`, with callbacks at the beginning and end of each term. Callbacks are not work: they do not delay a hand-over.
   *
   * @throws AlreadyStartedError if the name is started on this client, until an earlier start of it has settled its stop.
   * @throws ClosedError if the client is closed.
   */
  start(listener: ElectionListener = {}, options: StartOptions = {}): void {
    checkListener(listener)
    this.begin('start', 'election', 'plain', new Callbacks(this.client, listener), options)
  }

  /**
   * Runs `work` once in each term, as long as it leads. The work should stop when `term.signal` aborts; if it returns earlier, the term
   * goes on, idle, and the work is not run again before the next term. What it throws is reported and never touches the election.
   *
   * @throws AlreadyStartedError, ClosedError as `start`.
   *
   * @example
   * const task = election.runWhileLeader(async (term) => {
   *   while (term.isValid) await store.write(await next(), term.token)
   * })
   */
  runWhileLeader(work: Work, options: StartOptions = {}): LeaderTask {
    checkFunction('runWhileLeader: the work', work)
    return this.startTask('runWhileLeader', options, (term) => runOnce(this.client, term, work))
  }

  /**
   * Runs `work` on a schedule while it leads: one loop per term, no overlap, no run in a term that has ended. What a run throws is
   * reported, and the loop goes on.
   *
   * @throws AlreadyStartedError, ClosedError as `start`.
   *
   * @example
   * const task = election.schedule(Schedule.fixedRate('1m'), (term) => report.generate(term.token))
   */
  schedule(schedule: Schedule, work: Work, options: StartOptions = {}): LeaderTask {
    checkSchedule(schedule)
    checkFunction('schedule: the work', work)
    return this.startTask('schedule', options, (term) => runScheduled(this.client, term, schedule, work))
  }

  /**
   * The terms of this client, one after the other. Starts at the first request and stops when the loop is left. The body of the loop is
   * the term's work: a hand-over waits for it to ask for the next term. An abort of `signal` makes the loop throw the signal's reason.
   *
   * @throws AlreadyStartedError, ClosedError as `start`, from the first `next()`.
   *
   * @example
   * for await (const term of election.terms({ signal })) await lead(term)
   */
  terms(options: StartOptions = {}): AsyncIterableIterator<Term> {
    checkKeys('terms', options, { signal: true })
    return new TermIterator(this.client, this.name, options.signal)
  }

  /**
   * Ends the term, if there is one, and keeps out of the competition for `cooldown` (default `leaseDuration`), which counts from the
   * call. A mere candidate cools down too. Settles when the hand-over is finished; never rejects but for a wrong `cooldown`. Called
   * inside the work or a callback of this election it does not wait.
   */
  async stepDown(cooldown: Duration = this.client.timing.leaseMs): Promise<void> {
    const cooldownMs = toMs(cooldown, 'stepDown: cooldown')
    const candidacy = this.own()
    if (candidacy === undefined) return
    const inside = candidacy.calledFromInside()
    const settled = candidacy.stepDown(cooldownMs, this.client.clock.now())
    if (!inside) await settled
  }

  /**
   * Ends the start of this name, by whichever handle and in whichever form it was started; does nothing if it is not started. Settles
   * after the last `onRevoked`; never rejects. Called inside the work or a callback of this election it does not wait.
   */
  stop(): Promise<void> {
    const candidacy = this.own()
    return candidacy === undefined ? Promise.resolve() : stopUnlessInside(candidacy)
  }

  /**
   * Who leads now, without being a candidate; `undefined` if nobody does.
   *
   * @throws UnsupportedError if the backend cannot tell, BackendError if it fails.
   */
  holder(): Promise<Holder | undefined> {
    return findHolder(this.client, this.name)
  }

  private startTask(call: string, options: StartOptions, body: TaskBody): LeaderTask {
    return new CandidacyTask(this.begin(call, 'task', 'working', new TaskRuns(this.client, body), options))
  }

  private begin(
    call: string,
    use: NameUse,
    kind: ElectionKind,
    hooks: CandidacyHooks,
    options: StartOptions,
  ): Candidacy {
    checkKeys(call, options, { signal: true })
    const { client, name } = this
    client.ensureOpen(`election("${name}").${call}()`)
    options.signal?.throwIfAborted()
    client.reserve(name, use)
    return client.begin(name, kind, hooks, options.signal)
  }

  /** The start of this name that is this handle's to stop: not that of a lock or a partition. */
  private own(): Candidacy | undefined {
    const use = this.client.uses.get(this.name)
    return use === 'lock' || use === 'partition' ? undefined : this.client.candidacies.get(this.name)
  }
}

export function checkSchedule(schedule: unknown): void {
  if (schedule instanceof Schedule) return
  // Of another copy of this package, perhaps: its methods are what counts.
  if (typeof schedule === 'object' && schedule !== null && 'nextStart' in schedule) return
  throw new ConfigError('schedule needs a Schedule: Schedule.fixedDelay(…) or Schedule.fixedRate(…).')
}
