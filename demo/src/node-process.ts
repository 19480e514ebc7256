/** A node as the story sees it: a process to start, to signal and to hear from. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { NodeSetting, Order, Report } from './report.js'

const SCRIPT = fileURLToPath(new URL('./node.js', import.meta.url))

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class NodeProcess {
  readonly name: string
  readonly exited: Promise<Exit>
  /** Once it has exited. */
  exit: Exit | undefined
  /** Whether it was told to end. */
  endsByOrder = false
  private readonly child: ChildProcess

  constructor(
    setting: NodeSetting,
    readonly onReport: (node: NodeProcess, report: Report) => void,
  ) {
    this.name = setting.node
    // Standard output belongs to the story. Errors of the node go where they can be seen.
    this.child = fork(SCRIPT, [JSON.stringify(setting)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.child.on('message', (report: Report) => onReport(this, report))
    this.exited = new Promise((resolve) => {
      const ended = (exit: Exit) => {
        this.exit = exit
        resolve(exit)
      }
      // It could not be started.
      this.child.once('error', () => ended({ code: null, signal: null }))
      this.child.once('exit', (code, signal) => ended({ code, signal }))
    })
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL' || signal === 'SIGTERM') this.endsByOrder = true
    this.child.kill(signal)
  }

  order(order: Order): void {
    if (this.child.connected) this.child.send(order, () => {})
  }
}
