/** Delivers events to listeners; what nobody listens to and a person must know goes to the logger. */
import type { Logger } from '../config.js'
import type { SimbaEvent } from '../events.js'

export class EventHub {
  private readonly listeners = new Set<(event: SimbaEvent) => void>()

  constructor(private readonly logger: Logger) {}

  subscribe(listener: (event: SimbaEvent) => void): () => void {
    // Wrapped, so that a listener that subscribes twice is heard twice and ends each by itself.
    const own = (event: SimbaEvent) => listener(event)
    this.listeners.add(own)
    return () => this.listeners.delete(own)
  }

  publish(event: SimbaEvent): void {
    if (this.listeners.size === 0) {
      this.log(event)
      return
    }
    for (const listener of [...this.listeners]) {
      try {
        listener(event)
      } catch (error) {
        this.logger.error('Simba: an event listener threw; the others are not affected.', error)
      }
    }
  }

  close(): void {
    this.listeners.clear()
  }

  private log(event: SimbaEvent): void {
    const { logger } = this
    switch (event.type) {
      case 'WorkCompleted':
        if (event.outcome === 'FAILED')
          logger.error(`Simba: the work of "${event.name}" (token ${event.token}) failed.`, event.error)
        return
      case 'CallbackFailed':
        logger.error(`Simba: ${event.callback} of "${event.name}" threw.`, event.error)
        return
      case 'SessionLeaseShortened':
        logger.warn(
          `Simba: the backend grants ${event.grantedMs} of ${event.askedMs} ms, so the session is renewed every ${Math.round(event.renewMs)} ms.`,
        )
        return
      case 'SessionSuspended':
        logger.warn(
          `Simba: a renewal failed; terms end in ${Math.round(event.validMs)} ms unless the next one succeeds: ${event.error.message}`,
        )
        return
      case 'SessionEnded':
        if (event.reason !== 'CLOSED')
          logger.warn(`Simba: the session ${event.session} ended: ${event.reason}.`)
        return
      case 'TokenWentBack':
        logger.error(
          `Simba: the backend gave "${event.name}" the token ${event.token} after ${event.highest}: it has lost data, and a fenced resource may refuse this term's writes.`,
        )
        return
      case 'EventLoopBlocked':
        logger.warn(
          `Simba: the event loop was blocked, or the process stood still, for at least ${Math.round(event.blockedMs)} ms; ${event.cost ? 'its terms have ended' : 'its terms came near their end'}.`,
        )
        return
      case 'LockWaitsLong':
        logger.warn(
          `Simba: an acquire of "${event.name}" has waited ${Math.round(event.waitedMs)} ms behind a term of this same client. Is it waiting for itself?`,
        )
        return
      default:
        return
    }
  }
}
