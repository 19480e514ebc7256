/**
 * The processes of the story and what they report. Every election, and every end of a term that nobody asked for, is told as it happens,
 * so that the acts cannot tell anything that has not been so.
 */
import { join } from 'node:path'
import { monotonicMs } from './clock.js'
import type { LeaderEnd, StoryEvent } from './event.js'
import { NodeProcess } from './node-process.js'
import type { DemoOptions } from './options.js'
import type { Report, ReportOf } from './report.js'
import type { WardenPipe } from './warden-pipe.js'

/** An act did not happen as told. */
export class ActError extends Error {}

export interface Leader {
  readonly node: NodeProcess
  readonly token: string
}

interface Heard {
  readonly node: NodeProcess
  readonly report: Report
}

export class Stage {
  private readonly nodes = new Map<string, NodeProcess>()
  private readonly heard: Heard[] = []
  private readonly listeners = new Set<() => void>()
  private readonly starts = new Map<string, number>()
  private current: Leader | undefined
  private ended: { readonly node: string; readonly end: LeaderEnd; readonly at: number } | undefined
  private closing = false
  private broken: ActError | undefined

  constructor(
    private readonly options: DemoOptions,
    private readonly location: string,
    private readonly folder: string,
    private readonly warden: WardenPipe,
    private readonly tell: (event: StoryEvent) => void,
    private readonly startedAt: number,
  ) {}

  /** On the story's clock, which starts at 0. */
  time(at: number = monotonicMs()): number {
    return at - this.startedAt
  }

  start(name: string): NodeProcess {
    if (this.closing) throw new ActError('The story is over.')
    const run = (this.starts.get(name) ?? 0) + 1
    this.starts.set(name, run)
    const { backend, leaseMs } = this.options
    const journal = join(this.folder, `${name}.${run}.jsonl`)
    const setting = { node: name, backend, location: this.location, journal, leaseMs }
    const node = new NodeProcess(setting, (from, report) => this.hear(from, report))
    this.nodes.set(name, node)
    this.warden.started(node.pid)
    void node.exited.then(({ code, signal }) => {
      this.warden.gone(node.pid)
      if (!node.endsByOrder) {
        this.broken ??= new ActError(`${name} exited by itself, with ${signal ?? `code ${code}`}.`)
      }
      this.wake()
    })
    this.tell({ kind: 'started', atMs: this.time(), node: name, pid: node.pid, again: run > 1 })
    return node
  }

  /** The one that leads; waits for it if there is none. */
  async leader(withinMs: number): Promise<Leader> {
    return await this.until(() => this.current, withinMs, 'Nobody was elected')
  }

  /** The first report of the kind from now on, or from `since` on. */
  async report<Kind extends Report['kind']>(
    node: NodeProcess,
    kind: Kind,
    withinMs: number,
    since: number = this.heard.length,
  ): Promise<ReportOf<Kind>> {
    const isOf = (report: Report): report is ReportOf<Kind> => report.kind === kind
    const find = () => {
      for (const one of this.heard.slice(since)) if (one.node === node && isOf(one.report)) return one.report
      return undefined
    }
    return await this.until(find, withinMs, `${node.name} did not report "${kind}"`)
  }

  /** How much has been heard: a place from which {@link report} can look on. */
  get mark(): number {
    return this.heard.length
  }

  /** The last report of the kind, if there has been one. */
  latest<Kind extends Report['kind']>(node: NodeProcess, kind: Kind): ReportOf<Kind> | undefined {
    const isOf = (report: Report): report is ReportOf<Kind> => report.kind === kind
    return this.heard.reduce<ReportOf<Kind> | undefined>(
      (last, one) => (one.node === node && isOf(one.report) ? one.report : last),
      undefined,
    )
  }

  async exited(node: NodeProcess, withinMs: number): Promise<void> {
    await this.until(() => node.exit, withinMs, `${node.name} did not exit`)
  }

  /** The leader is about to be sent a signal: from here on it counts as gone. */
  leaderEnds(end: LeaderEnd): void {
    if (this.current === undefined) return
    this.ended = { node: this.current.node.name, end, at: monotonicMs() }
    this.current = undefined
  }

  get running(): readonly NodeProcess[] {
    return [...this.nodes.values()].filter((node) => node.exit === undefined)
  }

  /** From here on nodes leave because the story is over: who is elected in between is not told. */
  close(): void {
    this.closing = true
  }

  async killAll(): Promise<void> {
    this.close()
    const left = this.running
    for (const node of left) node.signal('SIGKILL')
    await Promise.all(left.map((node) => node.exited))
  }

  private hear(node: NodeProcess, report: Report): void {
    const atMs = this.time(report.at)
    const name = node.name
    if (report.kind === 'up') {
      const again = this.heard.some((one) => one.node === node && one.report.kind === 'up')
      this.tell({ kind: 'up', atMs, node: name, again })
    } else if (report.kind === 'elected') {
      this.elected(node, report)
    } else if (report.kind === 'revoked') {
      this.revoked(node, report)
    }
    this.heard.push({ node, report })
    this.wake()
  }

  private elected(node: NodeProcess, { at, token, remainingMs }: ReportOf<'elected'>): void {
    const before = this.ended
    this.current = { node, token }
    this.ended = undefined
    if (this.closing) return
    const gap =
      before === undefined ? {} : { gapMs: at - before.at, before: { node: before.node, end: before.end } }
    this.tell({ kind: 'elected', atMs: this.time(at), node: node.name, token, remainingMs, ...gap })
  }

  private revoked(node: NodeProcess, { at, token, reason }: ReportOf<'revoked'>): void {
    if (this.current?.node === node) {
      this.ended = { node: node.name, end: reason === 'STOPPED' ? 'left' : 'revoked', at }
      this.current = undefined
    }
    if (!this.closing) this.tell({ kind: 'revoked', atMs: this.time(at), node: node.name, token, reason })
  }

  /** Waits until there is such a thing; a process that exits or reports is the occasion to look again. */
  private until<T>(find: () => T | undefined, withinMs: number, otherwise: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = find()
        if (found === undefined && this.broken === undefined) return
        done()
        if (found !== undefined) resolve(found)
        else reject(this.broken)
      }
      const timer = setTimeout(() => {
        done()
        reject(new ActError(`${otherwise} within ${(withinMs / 1_000).toFixed(1)} s.`))
      }, withinMs)
      const done = () => {
        clearTimeout(timer)
        this.listeners.delete(check)
      }
      this.listeners.add(check)
      check()
    })
  }

  private wake(): void {
    for (const listener of [...this.listeners]) listener()
  }
}
