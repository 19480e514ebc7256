/** What the command line asks for. */
import { parseArgs } from 'node:util'
import { backends } from '../../demo/dist/backends/by-name.js'

export interface TortureOptions {
  readonly backend: string
  readonly nodes: number
  readonly leaseMs: number
  readonly durationMs: number
  readonly seed: number
  readonly json: boolean
}

export const HELP: string = `npm run torture -- [options]

  --backend NAME   ${[...backends.keys()].join(', ')}; default sqlite
  --minutes M      how long; default 1
  --nodes N        how many processes, from 2 to 16; default 4
  --lease MS       how long a lease lasts, from 500 ms; default 1000
  --seed N         which faults in which order; default: another each time
  --json           one line of JSON at the end
`

export class UsageError extends Error {}

/** @throws UsageError */
export function parse(args: readonly string[], anySeed: number): TortureOptions | 'help' {
  const { values } = read(args)
  if (values.help === true) return 'help'
  const backend = values.backend ?? 'sqlite'
  if (!backends.has(backend)) {
    throw new UsageError(
      `--backend: there is no "${backend}"; there are: ${[...backends.keys()].join(', ')}.`,
    )
  }
  return {
    backend,
    durationMs: number('--minutes', values.minutes ?? '1', 0.05, 600) * 60_000,
    nodes: whole('--nodes', values.nodes ?? '4', 2, 16),
    leaseMs: whole('--lease', values.lease ?? '1000', 500, 60_000),
    seed: whole('--seed', values.seed ?? String(anySeed), 0, 2 ** 31 - 1),
    json: values.json === true,
  }
}

function read(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = {
    backend: text,
    minutes: text,
    nodes: text,
    lease: text,
    seed: text,
    json: flag,
    help: flag,
  }
  try {
    return parseArgs({ args: [...args], options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function number(option: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max) return value
  throw new UsageError(`${option} is "${text}"; give a number from ${min} to ${max}.`)
}

function whole(option: string, text: string, min: number, max: number): number {
  const value = number(option, text, min, max)
  if (Number.isInteger(value)) return value
  throw new UsageError(`${option} is "${text}"; give a whole number from ${min} to ${max}.`)
}
