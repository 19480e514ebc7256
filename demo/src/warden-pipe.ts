/** The story's end of the pipe to its warden. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('./warden.js', import.meta.url))

export class WardenPipe {
  private readonly child: ChildProcess
  private readonly exited: Promise<void>

  constructor(folder: string) {
    // In a group of its own: what ends the story's group leaves the warden to clean up after it.
    this.child = spawn(process.execPath, [SCRIPT, folder], {
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    })
    this.child.stdin?.on('error', () => {})
    this.exited = new Promise((resolve) => {
      this.child.once('error', () => resolve())
      this.child.once('exit', () => resolve())
    })
  }

  started(pid: number): void {
    this.write(`+${pid}`)
  }

  gone(pid: number): void {
    this.write(`-${pid}`)
  }

  /** The folder is to stay. */
  keepFolder(): void {
    this.write('keep')
  }

  /** Ends every node that is left and removes the folder; resolves when that is done. */
  async finish(): Promise<void> {
    this.child.stdin?.end()
    await this.exited
  }

  private write(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }
}
