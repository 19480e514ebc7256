/** Work that runs while its election leads. */
import type { Candidacy, CandidacyHooks } from './candidacy.js'
import type { Client } from './client.js'
import type { LiveTerm } from './live-term.js'
import { runInTerm } from './work.js'

/** A task that runs on whichever node leads. */
export interface LeaderTask extends AsyncDisposable {
  readonly name: string

  /** Settles when the task has stopped for good, by whatever caused it. Never rejects. */
  readonly done: Promise<void>

  /**
   * Stops competing, ends the term, waits for the work to exit (but not beyond the deadline as it stands), and gives the lease back.
   * Settles when all that is done; never rejects. Called inside the task itself it does not wait.
   */
  stop(): Promise<void>
}

/** What a task does in each term. */
export type TaskBody = (term: LiveTerm) => Promise<void>

/** Runs a body in each term. */
export class TaskRuns implements CandidacyHooks {
  constructor(
    private readonly client: Client,
    private readonly body: TaskBody,
    readonly settled: () => void = () => {},
  ) {}

  elected(term: LiveTerm, candidacy: Candidacy): void {
    runInTerm(this.client, candidacy, term, () => this.body(term))
  }
}

export class CandidacyTask implements LeaderTask {
  constructor(private readonly candidacy: Candidacy) {}

  get name(): string {
    return this.candidacy.name
  }

  get done(): Promise<void> {
    return this.candidacy.done
  }

  stop(): Promise<void> {
    return stopUnlessInside(this.candidacy)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** Stops; a call that comes from inside what it would wait for does not wait. */
export function stopUnlessInside(candidacy: Candidacy): Promise<void> {
  const inside = candidacy.calledFromInside()
  const stopped = candidacy.stop()
  return inside ? Promise.resolve() : stopped
}
