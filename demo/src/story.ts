/** The four acts. Each does one thing to the leader, waits for what must follow, and fails if that does not come. */
import { sleep } from './clock.js'
import type { ActName, StoryEvent } from './event.js'
import type { NodeProcess } from './node-process.js'
import type { DemoOptions } from './options.js'
import { ActError, type Leader, type Stage } from './stage.js'

/** Starting a process on a busy machine. */
const START_MS = 15_000

/** How long the acts take. */
export interface Pace {
  /** For how long each leader is left in peace. */
  readonly watchMs: number
  readonly rounds: number
}

export function pace({ leaseMs, seconds }: DemoOptions): Pace {
  const watchMs = Math.min(Math.max(leaseMs / 2, 600), 2_000)
  // Two of the acts wait for a lease to run out.
  const roundMs = 2 * leaseMs + 4 * watchMs + 1_000
  return { watchMs, rounds: Math.max(1, Math.floor((seconds * 1_000) / roundMs)) }
}

export class Story {
  private readonly watchMs: number
  private readonly rounds: number
  /** A lease that nobody renews has run out by then, and somebody has taken it; generous, for a busy machine. */
  private readonly takeoverMs: number

  constructor(
    private readonly stage: Stage,
    private readonly options: DemoOptions,
    private readonly tell: (event: StoryEvent) => void,
  ) {
    const { watchMs, rounds } = pace(options)
    this.watchMs = watchMs
    this.rounds = rounds
    this.takeoverMs = options.leaseMs * 2 + 5_000
  }

  async play(): Promise<void> {
    for (let round = 1; round <= this.rounds; round += 1) {
      await this.lead(round)
      await this.kill(round)
      await this.freeze(round)
      await this.leave(round)
    }
    await this.end()
  }

  /** Act 1: one leads. */
  private async lead(round: number): Promise<void> {
    this.act(round, 'lead')
    if (round === 1) {
      const names = 'abcdefghi'.slice(0, this.options.nodes)
      await Promise.all([...names].map((name) => this.startUp(name)))
    }
    await this.watch()
  }

  /** Act 2: the leader is killed. It can do nothing any more, not even give its lease back. */
  private async kill(round: number): Promise<void> {
    this.act(round, 'kill')
    const { node } = await this.stage.leader(this.takeoverMs)
    this.strike(node, 'SIGKILL')
    await this.stage.exited(node, START_MS)
    await this.successor(node, this.takeoverMs)
    await this.startUp(node.name)
    await this.watch()
  }

  /** Act 3: the leader is stopped in the middle of a write, sleeps past its lease, and wakes when another leads. */
  private async freeze(round: number): Promise<void> {
    this.act(round, 'sleep')
    const { node } = await this.stage.leader(this.takeoverMs)
    const midWrite = this.stage.report(node, 'midWrite', START_MS)
    node.order({ kind: 'slowWrite' })
    const { at, token, write } = await midWrite
    this.tell({ kind: 'midWrite', atMs: this.stage.time(at), node: node.name, token, write })
    this.strike(node, 'SIGSTOP')
    await this.successor(node, this.takeoverMs)
    await this.watch()
    await this.wake(node)
    await sleep(this.watchMs / 2)
  }

  private async wake(node: NodeProcess): Promise<void> {
    const { stage } = this
    const mark = stage.mark
    // Read before, since the process may be quicker than we are.
    const atMs = stage.time()
    node.signal('SIGCONT')
    this.tell({ kind: 'continued', atMs, node: node.name, pid: node.pid })
    const woken = await stage.report(node, 'woken', START_MS, mark)
    this.tell({
      kind: 'woken',
      atMs: stage.time(woken.at),
      node: node.name,
      stoodStillMs: woken.stoodStillMs,
    })
    const late = await stage.report(node, 'lateWrite', START_MS, mark)
    const { token, write, accepted, highest } = late
    this.tell({
      kind: 'lateWrite',
      atMs: stage.time(late.at),
      node: node.name,
      token,
      write,
      accepted,
      highest,
    })
    const look = await stage.report(node, 'firstLook', START_MS, mark)
    this.tell({ kind: 'firstLook', atMs: stage.time(look.at), node: node.name, token, isValid: look.isValid })
    if (look.isValid)
      throw new ActError(`${node.name} still saw isValid true after it had slept past its lease.`)
    if (accepted) throw new ActError(`The table accepted ${node.name}'s late write with token ${token}.`)
    // It competes again, by itself, in a new session.
    await stage.report(node, 'up', START_MS, mark)
  }

  /** Act 4: the leader leaves in order. */
  private async leave(round: number): Promise<void> {
    this.act(round, 'leave')
    const { node } = await this.stage.leader(this.takeoverMs)
    this.stage.leaderEnds('left')
    const atMs = this.stage.time()
    node.signal('SIGTERM')
    this.tell({ kind: 'asked', atMs, node: node.name, pid: node.pid })
    // At once: long before its lease would have run out.
    await Promise.all([this.successor(node, this.options.leaseMs / 2), this.left(node)])
    await this.watch()
    if (round < this.rounds) await this.startUp(node.name)
  }

  /** The others first, so that nobody is elected for a moment while all leave. */
  private async end(): Promise<void> {
    this.act(this.rounds, 'end')
    const { node: last } = await this.stage.leader(this.takeoverMs)
    this.stage.close()
    const others = this.stage.running.filter((node) => node !== last)
    for (const node of others) node.signal('SIGTERM')
    await Promise.all(others.map((node) => this.left(node)))
    last.signal('SIGTERM')
    await this.left(last)
  }

  private strike(node: NodeProcess, signal: 'SIGKILL' | 'SIGSTOP'): void {
    const kind = signal === 'SIGKILL' ? 'killed' : 'stopped'
    const last = this.stage.latest(node, 'wrote')
    this.stage.leaderEnds(kind)
    node.signal(signal)
    const atMs = this.stage.time()
    const leaseLeftMs =
      last === undefined ? 0 : Math.max(0, last.remainingMs - (atMs - this.stage.time(last.at)))
    this.tell({ kind, atMs, node: node.name, pid: node.pid, leaseLeftMs })
  }

  private act(round: number, act: ActName): void {
    this.tell({ kind: 'act', atMs: this.stage.time(), round, act })
  }

  private async startUp(name: string): Promise<void> {
    const { mark } = this.stage
    const node = this.stage.start(name)
    await this.stage.report(node, 'up', START_MS, mark)
  }

  /** Lets the leader work for a while, and tells what it has done. */
  private async watch(): Promise<void> {
    const before = await this.stage.leader(this.takeoverMs)
    const { mark } = this.stage
    await this.stage.report(before.node, 'wrote', START_MS, mark)
    await sleep(this.watchMs)
    const { node, token } = await this.stage.leader(this.takeoverMs)
    const last = this.stage.latest(node, 'wrote')
    if (last === undefined || last.token !== token) return
    const { writes, remainingMs } = last
    this.tell({
      kind: 'working',
      atMs: this.stage.time(last.at),
      node: node.name,
      token,
      writes,
      remainingMs,
    })
  }

  private async successor(of: NodeProcess, withinMs: number): Promise<Leader> {
    const leader = await this.stage.leader(withinMs)
    if (leader.node === of) throw new ActError(`${of.name} was elected again, though it was gone.`)
    return leader
  }

  private async left(node: NodeProcess): Promise<void> {
    await this.stage.exited(node, START_MS)
    const exitCode = node.exit?.code ?? -1
    this.tell({ kind: 'left', atMs: this.stage.time(), node: node.name, exitCode })
    if (exitCode !== 0)
      throw new ActError(`${node.name} was asked to leave, and exited with code ${exitCode}.`)
  }
}
