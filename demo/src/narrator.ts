/**
 * Prints the story. What happens at the same time in several processes arrives in any order, so each event waits for a moment for those
 * that came before it.
 */
import type { StoryEvent, Summary } from './event.js'

/** How long an event waits for earlier ones. */
const PATIENCE_MS = 40

export interface Printer {
  event(event: StoryEvent): void
  summary(summary: Summary, events: readonly StoryEvent[]): void
}

export class Narrator {
  private readonly told: StoryEvent[] = []
  private waiting: StoryEvent[] = []

  constructor(
    private readonly printer: Printer,
    private readonly time: () => number,
  ) {}

  readonly tell = (event: StoryEvent): void => {
    this.waiting.push(event)
    setTimeout(() => this.flush(this.time() - PATIENCE_MS), PATIENCE_MS + 1)
  }

  /** Prints what is still waiting. */
  finish(): void {
    this.flush(Number.POSITIVE_INFINITY)
  }

  summary(summary: Summary): void {
    this.finish()
    this.printer.summary(summary, this.told)
  }

  private flush(until: number): void {
    const due = this.waiting.filter((event) => event.atMs <= until)
    this.waiting = this.waiting.filter((event) => event.atMs > until)
    due.sort((a, b) => a.atMs - b.atMs)
    for (const event of due) {
      this.told.push(event)
      this.printer.event(event)
    }
  }
}
