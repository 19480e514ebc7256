/**
 * The machine or the backend was so slow that the answers prove nothing: a session's time was over before it could be asked. It is no
 * verdict on the backend, so that the case is run again.
 */
export class NoVerdict extends Error {
  override readonly name: string = 'NoVerdict'

  constructor(what: string, lateByMs: number) {
    super(
      `No verdict: ${what}, but that answer came ${Math.ceil(lateByMs)} ms after the time of the session was over: this machine or the ` +
        'backend was too slow for the case. Give leaseBackendSpec longer lease durations (leaseMs, longLeaseMs).',
    )
  }
}

const attempts = 3

/** Runs again what gave no verdict; any other outcome stands. */
export async function untilVerdict(run: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof NoVerdict) || attempt === attempts) throw error
    }
  }
}
