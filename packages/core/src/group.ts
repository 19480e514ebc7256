/** Partition groups: the partitions of a group are spread over the nodes that run it, each on exactly one node at a time. */
import { checkFunction, checkKeys } from './arguments.js'
import type { SessionId } from './backend.js'
import type { GroupMembership } from './client/group-membership.js'
import type { Groups } from './client/groups.js'
import type { LeaderTask } from './client/leader-task.js'
import type { LiveTerm } from './client/live-term.js'
import { runOnce, runScheduled } from './client/work.js'
import { checkSchedule, type StartOptions } from './election.js'
import { ConfigError } from './errors.js'
import { checkPartitions } from './lease-name.js'
import type { Schedule } from './schedule.js'
import type { Term } from './term.js'

export interface GroupOptions {
  /** How many partitions the group has; the same on every node. Partition p is the lease `{group}.{p}`. */
  readonly partitions: number
}

/** The work of one partition in one term. */
export type PartitionWork = (term: Term, partition: number) => unknown

/** The partitions that this node runs. */
export interface GroupTask extends LeaderTask {
  /** The partitions that are this node's in its latest view, ascending. */
  partitions(): readonly number[]
  /** The members in this node's latest view; empty while it has none. */
  members(): readonly SessionId[]
}

/** Made by `simba.group(name, { partitions })`. */
export class PartitionGroup {
  constructor(
    private readonly groups: Groups,
    readonly name: string,
    readonly partitions: number,
  ) {}

  /**
   * Joins the group, and runs `work` once in each term of each partition that is this node's.
   *
   * @throws AlreadyStartedError if the group, or one of its partitions' names, is started on this client.
   * @throws ClosedError if the client is closed.
   */
  runWhileLeader(work: PartitionWork, options: StartOptions = {}): GroupTask {
    checkFunction('runWhileLeader: the work', work)
    const { client } = this.groups
    return this.startTask('runWhileLeader', options, (term, partition) =>
      runOnce(client, term, (own) => work(own, partition)),
    )
  }

  /** Joins the group, and runs `work` on a schedule in each term of each partition that is this node's. Throws as `runWhileLeader`. */
  schedule(schedule: Schedule, work: PartitionWork, options: StartOptions = {}): GroupTask {
    checkSchedule(schedule)
    checkFunction('schedule: the work', work)
    const { client } = this.groups
    return this.startTask('schedule', options, (term, partition) =>
      runScheduled(client, term, schedule, (own) => work(own, partition)),
    )
  }

  private startTask(
    call: string,
    options: StartOptions,
    body: (term: LiveTerm, partition: number) => Promise<void>,
  ): GroupTask {
    checkKeys(call, options, { signal: true })
    return new MembershipTask(this.groups.start(call, this.name, this.partitions, body, options.signal))
  }
}

class MembershipTask implements GroupTask {
  constructor(private readonly membership: GroupMembership) {}

  get name(): string {
    return this.membership.group
  }

  get done(): Promise<void> {
    return this.membership.done
  }

  partitions(): readonly number[] {
    return this.membership.assigned
  }

  members(): readonly SessionId[] {
    return this.membership.members
  }

  /** Leaves the group and hands over every partition, also those that moved away earlier. Inside one of its runs it does not wait. */
  stop(): Promise<void> {
    const inside = this.membership.calledFromInside()
    const stopped = this.membership.stop()
    return inside ? Promise.resolve() : stopped
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

const MAX_PARTITIONS = 65_536

export function checkGroup(name: string, options: GroupOptions): number {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigError(`group("${name}") needs the number of its partitions: { partitions: 16 }.`)
  }
  checkKeys('group', options, { partitions: true })
  const { partitions } = options
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
    throw new ConfigError(
      `group("${name}"): partitions is ${partitions}; it must be a whole number from 1 to ${MAX_PARTITIONS}.`,
    )
  }
  checkPartitions(name, partitions)
  return partitions
}
