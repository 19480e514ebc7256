/**
 * A fence within one process, for what is not shared with others: it protects against two terms of this client, of which the first one's
 * work has not stopped yet.
 */
export class FencedValue {
  #highest = 0n
  #value: string | undefined

  /** Whether the write was accepted. There is no `await` between the check and the change, so they are one step. */
  write(token: bigint, value: string): boolean {
    if (token < this.#highest) return false
    this.#highest = token
    this.#value = value
    return true
  }

  get value(): string | undefined {
    return this.#value
  }
}

/** For a change that takes a while: later writes wait for it, so that the check and the change are one step all the same. */
export class FencedSink {
  readonly #send: (value: string) => Promise<void>
  #highest = 0n
  #last: Promise<unknown> = Promise.resolve()

  constructor(send: (value: string) => Promise<void>) {
    this.#send = send
  }

  write(token: bigint, value: string): Promise<boolean> {
    const write = this.#last.then(async () => {
      if (token < this.#highest) return false
      this.#highest = token
      await this.#send(value)
      return true
    })
    this.#last = write.catch(() => {})
    return write
  }
}
