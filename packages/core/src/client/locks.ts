/** The locks that are in use on this client. */
import type { Client } from './client.js'
import { LockQueue } from './lock-queue.js'

export class Locks {
  private readonly queues = new Map<string, LockQueue>()

  constructor(private readonly client: Client) {
    client.onClosing(() => {
      for (const queue of [...this.queues.values()]) queue.close()
    })
  }

  /**
   * The queue for a lock, which ends by itself when nobody wants the lock any more.
   *
   * @throws ClosedError, AlreadyStartedError
   */
  queue(name: string, call: string): LockQueue {
    const { client, queues } = this
    client.ensureOpen(`lock("${name}").${call}()`)
    const known = queues.get(name)
    if (known !== undefined) return known
    client.reserve(name, 'lock')
    const queue = new LockQueue(client, name, () => {
      queues.delete(name)
      client.unreserve(name)
    })
    queues.set(name, queue)
    return queue
  }

  values(): Iterable<LockQueue> {
    return this.queues.values()
  }
}
