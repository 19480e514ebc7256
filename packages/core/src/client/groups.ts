/** The partition groups that are started on this client. */
import { AlreadyStartedError } from '../errors.js'
import { partitionName } from '../lease-name.js'
import type { Client } from './client.js'
import { GroupMembership } from './group-membership.js'
import type { LiveTerm } from './live-term.js'

export class Groups {
  private readonly memberships = new Map<string, GroupMembership>()

  constructor(readonly client: Client) {
    client.onClosing(() => {
      for (const membership of this.memberships.values()) membership.close()
    })
  }

  /**
   * Joins a group, with all of its partitions' names reserved until its stop has settled.
   *
   * @throws ClosedError, AlreadyStartedError; the signal's reason if it has aborted.
   */
  start(
    call: string,
    name: string,
    partitions: number,
    body: (term: LiveTerm, partition: number) => Promise<void>,
    signal: AbortSignal | undefined,
  ): GroupMembership {
    const { client } = this
    client.ensureOpen(`group("${name}").${call}()`)
    signal?.throwIfAborted()
    if (this.memberships.has(name)) {
      throw new AlreadyStartedError(
        `The group "${name}" is already started on this client. Wait for its stop to settle before starting it again.`,
      )
    }
    this.reserve(name, partitions)
    const membership: GroupMembership = new GroupMembership(client, name, partitions, body, () => {
      off()
      client.groups.delete(name)
      this.memberships.delete(name)
      this.unreserve(name, partitions)
    })
    const off = client.aborts.add(signal, () => void membership.stop())
    this.memberships.set(name, membership)
    client.groups.set(name, membership)
    membership.join()
    return membership
  }

  values(): Iterable<GroupMembership> {
    return this.memberships.values()
  }

  /** All of the partitions' names, or none. */
  private reserve(group: string, partitions: number): void {
    for (let partition = 0; partition < partitions; partition += 1) {
      try {
        this.client.reserve(partitionName(group, partition), 'partition')
      } catch (error) {
        this.unreserve(group, partition)
        throw error
      }
    }
  }

  private unreserve(group: string, count: number): void {
    for (let partition = 0; partition < count; partition += 1) {
      this.client.unreserve(partitionName(group, partition))
    }
  }
}
