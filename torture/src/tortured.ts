/** A node as its torturer sees it. After each death it is started again, as another process with a journal of its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WardenPipe } from '../../demo/dist/warden-pipe.js'
import type { NodeSetting } from './setting.js'

const SCRIPT = fileURLToPath(new URL('./node.js', import.meta.url))

export class Tortured {
  readonly name: string
  /** Whoever ended although nobody had ended it. */
  readonly accidents: string[] = []
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  /** It listens to signals by now. */
  #begun: Promise<void> = Promise.resolve()
  #starts = 0
  #endsByOrder = false
  readonly #setting: Omit<NodeSetting, 'journal'>
  readonly #folder: string
  readonly #warden: WardenPipe

  constructor(setting: Omit<NodeSetting, 'journal'>, folder: string, warden: WardenPipe) {
    this.name = setting.node
    this.#setting = setting
    this.#folder = folder
    this.#warden = warden
  }

  start(): void {
    const journal = join(this.#folder, `${this.name}-${++this.#starts}.jsonl`)
    const setting: NodeSetting = { ...this.#setting, node: `${this.name}-${this.#starts}`, journal }
    const child = fork(SCRIPT, [JSON.stringify(setting)], {
      execArgv: ['--unhandled-rejections=strict'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { pid } = child
    this.#endsByOrder = false
    this.#child = child
    if (pid !== undefined) this.#warden.started(pid)
    this.#begun = new Promise((resolve) => {
      child.once('message', () => resolve())
    })
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (pid !== undefined) this.#warden.gone(pid)
        const asOrdered = this.#endsByOrder && (code === 0 || signal === 'SIGKILL')
        if (!asOrdered) this.accidents.push(`${setting.node} ended with ${signal ?? `code ${code}`}`)
        this.#child = undefined
        resolve()
      })
    })
  }

  /** Ends it: at once, or in order. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (signal === 'SIGTERM') await Promise.race([this.#begun, this.#exited])
    this.#endsByOrder = true
    this.#child?.kill(signal)
    await this.#exited
  }

  stop(): void {
    this.#child?.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child?.kill('SIGCONT')
  }

  busy(busyMs: number): void {
    this.#child?.send({ busyMs }, () => {})
  }
}
