/** Which seeds have been run on which state of the code: one line each, in a file that is committed. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../ledger.jsonl', import.meta.url))

export interface LedgerEntry {
  readonly from: number
  readonly seeds: number
  readonly violations: number
  readonly seconds: number
  readonly virtualSeconds: number
}

export function appendToLedger(entry: LedgerEntry): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  appendFileSync(FILE, `${JSON.stringify({ ...entry, commit })}\n`)
}

/** The first seed that the ledger does not hold. */
export function nextSeed(): number {
  if (!existsSync(FILE)) return 1
  const lines = readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.reduce((next, line) => {
    const { from, seeds }: Partial<LedgerEntry> = JSON.parse(line)
    return Math.max(next, (from ?? 0) + (seeds ?? 0))
  }, 1)
}
