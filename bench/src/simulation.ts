/** How many simulated worlds fit into two minutes on two cores. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Measure } from './measure.js'

const MINUTES = 0.5

export async function simulation(): Promise<readonly Measure[]> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const args = ['simulate/dist/main.js', '--from', '1', '--minutes', String(MINUTES), '--jobs', '2', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  const { seeds, seconds }: { readonly seeds: number; readonly seconds: number } = JSON.parse(stdout)
  const value = (seeds * 120) / seconds
  return [
    {
      bench: 'simulate',
      measure: 'worlds in 2 minutes on 2 cores',
      value,
      unit: 'seeds',
      goal: 'at least 10,000',
      met: value >= 10_000,
    },
  ]
}
