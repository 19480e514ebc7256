/** `npm run bench -- engine|memory|simulate|sqlite [--json]`: a table for people, or a line of JSON for each measure. */
import { engine } from './engine.js'
import type { Measure } from './measure.js'
import { memory } from './memory.js'
import { simulation } from './simulation.js'
import { sqlite } from './sqlite.js'
import { validity } from './validity.js'

const benches: { readonly [name: string]: () => Promise<readonly Measure[]> } = {
  engine: async () => [...(await engine()), ...(await validity())],
  memory,
  simulate: simulation,
  sqlite,
}

const args = process.argv.slice(2)
const json = args.includes('--json')
const asked = args.filter((arg) => arg !== '--json')
const unknown = asked.find((name) => !(name in benches))

if (unknown !== undefined) {
  console.error(
    `There is no benchmark "${unknown}"; there are: ${Object.keys(benches).join(', ')}, and --json.`,
  )
  process.exitCode = 2
} else {
  for (const [name, bench] of Object.entries(benches)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    for (const measure of await bench()) tell(measure)
  }
}

function tell(measure: Measure): void {
  if (!measure.met) process.exitCode = 1
  if (json) {
    console.log(JSON.stringify(measure))
    return
  }
  const { bench, measure: what, value, unit, baseline, ratio, goal, met } = measure
  const compared =
    baseline === undefined || ratio === undefined ? '' : `, beside ${figure(baseline)}: ${ratio.toFixed(2)} ×`
  console.log(
    `${met ? 'met   ' : 'MISSED'} ${bench.padEnd(8)} ${what}: ${figure(value)} ${unit}${compared}  (goal: ${goal})`,
  )
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2)
}
