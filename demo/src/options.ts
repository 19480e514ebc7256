/** The command line. */
import { parseArgs } from 'node:util'
import { backends } from './backends/by-name.js'

export interface DemoOptions {
  readonly json: boolean
  readonly nodes: number
  readonly seconds: number
  readonly leaseMs: number
  readonly backend: string
}

export const HELP: string = `Simba demo: several processes, one leader at a time.

Starts real processes that elect a leader, then kills, stops and ends the one that leads, and tells what happens. At the end a
judge reads what each process wrote down, and says whether there were ever two leaders.

Usage: npm run demo -- [options]

  --lease 3s         how long a lease lasts: 500ms to 60s (default 3s)
  --seconds 30       about how long to go on; the four acts are played at least once (default 30)
  --nodes 3          how many processes: 3 to 9 (default 3)
  --backend sqlite   where the leases live: ${[...backends.keys()].join(', ')} (default sqlite)
  --json             prints JSON, one object a line; the last one is the summary
  --help             prints this

Exit code: 0 if all went as told; 1 if there were two leaders, a token did not rise, or an act did not happen; 2 for a wrong option.
`

/** Something is wrong with the command line; the message is for the person who wrote it. */
export class OptionError extends Error {}

const VALUES = ['nodes', 'seconds', 'lease', 'backend'] as const
const FLAGS = ['json', 'help'] as const

type Given = Partial<{ [Name in (typeof VALUES)[number] | (typeof FLAGS)[number]]: string }>

/** @returns 'help' if that is what was asked for. @throws OptionError */
export function parseOptions(args: readonly string[]): DemoOptions | 'help' {
  const given = read(args)
  if (given.help !== undefined) return 'help'
  return {
    json: given.json !== undefined,
    nodes: wholeNumber('--nodes', given.nodes ?? '3', 3, 9, 'with fewer than 3 nobody is left to take over'),
    seconds: wholeNumber('--seconds', given.seconds ?? '30', 1, 3600),
    leaseMs: lease(given.lease ?? '3s'),
    backend: backend(given.backend ?? 'sqlite'),
  }
}

function read(args: readonly string[]): Given {
  const options = Object.fromEntries([
    ...VALUES.map((name) => [name, { type: 'string' as const }]),
    ...FLAGS.map((name) => [name, { type: 'boolean' as const }]),
  ])
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given: Given = {}
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') throw new OptionError(`"${token.value}" is not an option.`)
    const value = VALUES.find((name) => name === token.name)
    const flag = FLAGS.find((name) => name === token.name)
    if (value !== undefined) {
      if (token.value === undefined || token.value === '') throw new OptionError(`--${value} needs a value.`)
      given[value] = token.value
    } else if (flag !== undefined) {
      if (token.value !== undefined)
        throw new OptionError(`--${flag} takes no value; given was "${token.value}".`)
      given[flag] = 'yes'
    } else {
      const known = [...VALUES, ...FLAGS].map((name) => `--${name}`).join(', ')
      throw new OptionError(`There is no option ${token.rawName}; there are ${known}.`)
    }
  }
  return given
}

function wholeNumber(option: string, text: string, least: number, most: number, why?: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  const reason = why === undefined ? '' : ` (${why})`
  throw new OptionError(
    `${option} is "${text}"; it must be a whole number from ${least} to ${most}${reason}.`,
  )
}

const SHORTEST_LEASE_MS = 500
const LONGEST_LEASE_MS = 60_000

function lease(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? []
  const ms = Number(amount) * (unit === 'm' ? 60_000 : unit === 's' ? 1_000 : 1)
  if (ms >= SHORTEST_LEASE_MS && ms <= LONGEST_LEASE_MS) return ms
  throw new OptionError(`--lease is "${text}"; it must be a time from 500ms to 60s, such as 3s or 1500ms.`)
}

function backend(name: string): string {
  if (backends.has(name)) return name
  throw new OptionError(`--backend is "${name}"; there are: ${[...backends.keys()].join(', ')}.`)
}
