/** One start of a partition group: which partitions are this node's, and their elections. */
import type { SessionId } from '../backend.js'
import { partitionName } from '../lease-name.js'
import { partitionsOf } from '../rendezvous.js'
import type { Candidacy } from './candidacy.js'
import type { Client, GroupListener } from './client.js'
import { TaskRuns } from './leader-task.js'
import type { LiveTerm } from './live-term.js'

export class GroupMembership implements GroupListener {
  readonly start: number
  /** Settles when the group has been left and every partition has been handed over. */
  readonly done: Promise<void>
  members: readonly SessionId[] = []
  /** The partitions that are this node's in its latest view. */
  assigned: readonly number[] = []
  /** The partitions that compete, run, or are being handed over here. */
  readonly running: Map<number, Candidacy> = new Map()
  private stopping = false
  private left = false
  private settle: () => void = () => {}

  constructor(
    private readonly client: Client,
    readonly group: string,
    readonly partitions: number,
    private readonly body: (term: LiveTerm, partition: number) => Promise<void>,
    private readonly settled: () => void,
  ) {
    this.start = client.newStart()
    this.done = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  join(): void {
    this.client.session.needed()
    this.client.post({ type: 'join', group: this.group, start: this.start })
  }

  /** Leaves the group and stops each partition, also those that a former view moved away. */
  stop(): Promise<void> {
    this.close()
    if (!this.left) this.client.post({ type: 'leave', group: this.group, start: this.start })
    return this.done
  }

  /** Takes on nothing more, and hands over what runs. */
  close(): void {
    if (this.stopping) return
    this.stopping = true
    this.show([], [])
    for (const candidacy of this.running.values()) void candidacy.stop()
  }

  onMembers(session: SessionId | undefined, members: readonly SessionId[]): void {
    if (this.stopping) return
    const same =
      members.length === this.members.length && members.every((member) => this.members.includes(member))
    if (same && session !== undefined) return
    this.show(members, session === undefined ? [] : partitionsOf(session, members, this.partitions))
    const own = new Set(this.assigned)
    for (const [partition, candidacy] of this.running) {
      if (!own.has(partition)) void candidacy.stop()
    }
    for (const partition of own) this.compete(partition)
  }

  onLeft(): void {
    this.left = true
    this.settleIfDone()
  }

  calledFromInside(): boolean {
    for (const candidacy of this.running.values()) {
      if (candidacy.calledFromInside()) return true
    }
    return false
  }

  private show(members: readonly SessionId[], partitions: readonly number[]): void {
    const changed = members.length > 0 || this.members.length > 0
    this.members = members
    this.assigned = partitions
    if (changed) this.client.publish({ type: 'GroupChanged', group: this.group, members, partitions })
  }

  private compete(partition: number): void {
    if (this.running.has(partition)) return // or is still handing over: its end looks again
    const runs = new TaskRuns(
      this.client,
      (term) => this.body(term, partition),
      () => this.handedOver(partition),
    )
    this.running.set(partition, this.client.begin(partitionName(this.group, partition), 'working', runs))
  }

  private handedOver(partition: number): void {
    this.running.delete(partition)
    if (!this.stopping && this.assigned.includes(partition)) this.compete(partition)
    this.settleIfDone()
  }

  private settleIfDone(): void {
    if (!this.stopping || !this.left || this.running.size > 0) return
    this.settled()
    this.settle()
  }
}
