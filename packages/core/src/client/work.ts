/** Runs the user's work in a term, reports how it ended, and tells the engine that it has exited. */
import type { Schedule } from '../schedule.js'
import type { Term } from '../term.js'
import type { Candidacy } from './candidacy.js'
import type { Client } from './client.js'
import type { LiveTerm } from './live-term.js'

/** The user's function. Interrupting it means aborting `term.signal`; it has exited when its promise has settled. */
export type Work = (term: Term) => unknown

/** Runs the body in the term; the hand-over of the term waits for its end. */
export function runInTerm(
  client: Client,
  candidacy: Candidacy,
  term: LiveTerm,
  body: () => Promise<void>,
): void {
  for (const earlier of candidacy.runs) {
    client.logger.warn(
      `Simba: the work of "${term.name}" of an earlier term (token ${earlier.term.token}) is still running while that of token ${term.token} begins. Make it stop when its term's signal aborts.`,
    )
  }
  const run = candidacy.beginRun(term, client.clock.now())
  const exited = () => candidacy.endRun(run)
  void candidacy.frames.enter(body).then(exited, exited)
}

/** One run of the work; what it throws is reported and goes no further. */
export async function runOnce(client: Client, term: LiveTerm, work: Work): Promise<void> {
  const startedAt = client.clock.now()
  try {
    await work(term)
    completed(client, term, startedAt, 'SUCCEEDED')
  } catch (error) {
    completed(client, term, startedAt, term.isValid ? 'FAILED' : 'CANCELLED', error)
  }
}

function completed(
  client: Client,
  term: LiveTerm,
  startedAt: number,
  outcome: 'SUCCEEDED' | 'FAILED' | 'CANCELLED',
  error?: unknown,
): void {
  const { name, token } = term
  const tookMs = client.clock.now() - startedAt
  const detail = error === undefined ? {} : { error }
  client.publish({ type: 'WorkCompleted', name, token, outcome, tookMs, ...detail })
}

/** The loop of a schedule within one term: one run after the other, until the term ends. */
export async function runScheduled(
  client: Client,
  term: LiveTerm,
  schedule: Schedule,
  work: Work,
): Promise<void> {
  const first = term.startedAt + schedule.initialDelayMs
  for (let planned = first; ; ) {
    await sleepUntil(client, term, planned)
    if (!term.isValid) return
    await runOnce(client, term, work)
    planned = schedule.nextStart(first, planned, client.clock.now())
  }
}

/** Waits until the time, or the end of the term. */
function sleepUntil(client: Client, term: LiveTerm, at: number): Promise<void> {
  if (term.reason !== undefined || client.clock.now() >= at) return Promise.resolve()
  return new Promise((resolve) => {
    const key = Symbol('schedule')
    const off = term.onEnd(() => {
      client.timers.disarm(key)
      resolve()
    })
    client.timers.arm(key, at, () => {
      off()
      resolve()
    })
  })
}
