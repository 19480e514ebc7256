/**
 * Lets processes hammer one file and tells each one's share of the commits, its longest wait for one, and the longest time for which its
 * event loop was blocked (its own commits included, which wait for the disk):
 *
 *     npx tsc -b packages/sql && node packages/sql/test/sqlite/processes/fairness.mjs [processes] [seconds] [driver] [--json]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './child.mjs'

const [processes = '4', seconds = '10', driver = '@photostructure/sqlite'] = process.argv
  .slice(2)
  .filter((argument) => argument !== '--json')
const folder = mkdtempSync(join(tmpdir(), 'simba-fairness-'))

const children = Array.from({ length: Number(processes) }, () =>
  startChild('hammer.mjs', join(folder, 'shared.db'), driver),
)
await Promise.all(children.map(({ hear }) => hear()))
for (const { say } of children) say({ go: Number(seconds) * 1000 })
const results = await Promise.all(children.map(({ hear }) => hear()))
await Promise.all(children.map(({ stop }) => stop()))
rmSync(folder, { recursive: true, force: true })

const total = results.reduce((sum, { commits }) => sum + commits, 0)
const shares = results.map((result) => ({ ...result, share: result.commits / total }))
if (process.argv.includes('--json')) console.log(JSON.stringify(shares))
else {
  console.log(`${total} commits of ${processes} processes in ${seconds} s`)
  for (const { commits, share, longestMs, blockedMs } of shares) {
    console.log(
      `${(100 * share).toFixed(1)} %: ${commits} commits, longest wait ${longestMs} ms, loop blocked ${blockedMs} ms at most`,
    )
  }
}
