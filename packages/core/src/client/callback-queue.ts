/** Runs the callbacks of one election in order, one at a time, and never lets one that throws disturb the next. */
export class CallbackQueue {
  private tail: Promise<void> = Promise.resolve()

  constructor(private readonly onError: (callback: 'onElected' | 'onRevoked', error: unknown) => void) {}

  push(callback: 'onElected' | 'onRevoked', run: () => Promise<void>): void {
    this.tail = this.tail.then(run).catch((error: unknown) => this.onError(callback, error))
  }

  /** Settles when all callbacks so far have run. */
  get drained(): Promise<void> {
    return this.tail
  }
}
