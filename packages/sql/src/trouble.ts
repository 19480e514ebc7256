/** What goes wrong on the way to a database, besides what drivers say. */

/** Something wrong that no driver told us; the message says what and what to do, in a half-sentence. */
export class ConnectionTrouble extends Error {
  override readonly name: string = 'ConnectionTrouble'
}

/** A call ran out of time; `cause` tells what was in the way, if it was attempted at all. */
export class OutOfTime extends Error {
  override readonly name: string = 'OutOfTime'
  readonly waitedMs: number

  constructor(waitedMs: number, cause: unknown) {
    super(`gave up after ${Math.round(waitedMs)} ms`, { cause })
    this.waitedMs = waitedMs
  }
}
