/** What the leader does: it writes to the fenced table, again and again, and looks at `isValid` just before and just after. */
import type { Term } from '@simba/core'
import type { Ledger, WriteResult } from './backends/backend.js'
import { monotonicMs, sleep } from './clock.js'
import type { Journal } from './journal.js'
import type { Report } from './report.js'
import type { Witness } from './witness.js'

/** Between two writes. */
const PERIOD_MS = 100

/** The longest that a slow write waits to be stopped. */
const SLOW_WRITE_MS = 5_000

export class LeaderWork {
  private slowNext = false

  constructor(
    private readonly node: string,
    private readonly leaseMs: number,
    private readonly ledger: Ledger,
    private readonly witness: Witness,
    private readonly journal: Journal,
    private readonly report: (report: Report) => void,
  ) {}

  /** The next write will stand still half-way, until the process has been stopped and woken. */
  slowWrite(): void {
    this.slowNext = true
  }

  async lead(term: Term): Promise<void> {
    const token = String(term.token)
    this.report({ kind: 'elected', at: monotonicMs(), token, remainingMs: term.remaining() })
    for (let write = 1; this.witness.look(term); write += 1) {
      const late = this.slowNext && this.standStill(term, write)
      const result = await this.write(term, write)
      const at = monotonicMs()
      if (late && result !== undefined) {
        const highest = result.accepted ? token : String(result.highest)
        this.report({ kind: 'lateWrite', at, token, write, accepted: result.accepted, highest })
      } else if (result?.accepted) {
        this.report({ kind: 'wrote', at, token, writes: write, remainingMs: term.remaining() })
      }
      if (!this.witness.look(term)) return
      await sleep(PERIOD_MS, term.signal).catch(() => {})
    }
  }

  private async write(term: Term, write: number): Promise<WriteResult | undefined> {
    const token = String(term.token)
    const from = monotonicMs()
    try {
      const result = await this.ledger.write(term.token, this.node, write)
      const { accepted } = result
      const position = accepted ? { position: result.position } : {}
      this.journal.append({ kind: 'write', token, from, to: monotonicMs(), accepted, ...position })
      return result
    } catch (error) {
      this.journal.append({
        kind: 'note',
        at: monotonicMs(),
        text: `write ${write} failed: ${String(error)}`,
      })
      return undefined
    }
  }

  /**
   * The gap that every check-then-write has: the check is done, the write is not. A real pause (garbage collection, a frozen virtual
   * machine, swap) falls into it by bad luck; here the process waits in it, blocked, until it has been stopped and woken, which it sees
   * from the leap of the clock. What comes after is what any program would do: the write that it had begun, without another check.
   */
  private standStill(term: Term, write: number): boolean {
    this.slowNext = false
    const token = String(term.token)
    const cell = new Int32Array(new SharedArrayBuffer(4))
    const began = monotonicMs()
    this.report({ kind: 'midWrite', at: began, token, write })
    for (let last = began; last - began < SLOW_WRITE_MS; ) {
      Atomics.wait(cell, 0, 0, 2)
      const now = monotonicMs()
      if (now - last >= this.leaseMs) {
        this.report({ kind: 'woken', at: now, stoodStillMs: now - last })
        this.witness.onceLooked((isValid) =>
          this.report({ kind: 'firstLook', at: monotonicMs(), token, isValid }),
        )
        return true
      }
      last = now
    }
    return false
  }
}
