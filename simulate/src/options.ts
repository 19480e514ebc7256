/** What the command line asks for. */
import { parseArgs } from 'node:util'
import { FAULTS, type FaultKind, PREMISES, type PremiseName, USES, type Use } from '@simba/testing'
import { defects } from './defects/all.js'

export interface Choice {
  readonly without: readonly (FaultKind | Use)[]
  /** A premise of the world, or a rule of the engine, that is broken on purpose. */
  readonly broken: string | undefined
}

export type Request =
  | { readonly kind: 'help' }
  | {
      readonly kind: 'campaign'
      readonly from: number | 'next'
      readonly seeds: number
      readonly jobs: number
      readonly minutes: number
      readonly choice: Choice
      readonly ledger: boolean
      readonly json: boolean
    }
  | {
      readonly kind: 'replay'
      readonly seed: number
      readonly trace: number
      readonly choice: Choice
      readonly json: boolean
    }

export class UsageError extends Error {}

export const HELP: string = `npm run simulate -- [options]

  --seeds N          how many seeds; default 1000
  --from N           the first of them; default 1; "next" goes on after the ledger
  --jobs N           processes; default: as many as there are cores
  --minutes M        stop after so long
  --ledger           write what was done to simulate/ledger.jsonl
  --seed N           one seed; a failing one is made smaller
  --trace [N]        what happens in it: the last N lines (default 300)
  --without A,B      leave out faults and uses: ${[...FAULTS, ...USES].join(', ')}
  --break NAME       break a premise or a rule on purpose, and see that a law fails; "list" lists them
  --json             one line of JSON at the end
`

/** @throws UsageError */
export function parse(args: readonly string[], cores: number): Request {
  const { values } = read(args)
  if (values.help === true) return { kind: 'help' }
  const choice = { without: withoutOf(values.without), broken: brokenOf(values.break) }
  const json = values.json === true
  if (values.seed !== undefined) {
    const trace = values.trace === undefined ? 0 : values.trace === '' ? 300 : whole('--trace', values.trace)
    return { kind: 'replay', seed: whole('--seed', values.seed), trace, choice, json }
  }
  if (values.trace !== undefined) throw new UsageError('--trace shows one seed: give --seed N too.')
  return {
    kind: 'campaign',
    from: values.from === 'next' ? 'next' : whole('--from', values.from ?? '1'),
    seeds:
      values.minutes !== undefined && values.seeds === undefined
        ? Infinity
        : whole('--seeds', values.seeds ?? (choice.broken === undefined ? '1000' : '2000')),
    jobs: whole('--jobs', values.jobs ?? String(cores)),
    minutes: values.minutes === undefined ? Infinity : positive('--minutes', values.minutes),
    choice,
    ledger: values.ledger === true,
    json,
  }
}

function read(args: readonly string[]) {
  // "--trace" may stand alone.
  const full = args.flatMap((arg, index) => {
    const next = args[index + 1]
    return arg === '--trace' && (next === undefined || next.startsWith('--')) ? ['--trace', ''] : [arg]
  })
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: full,
      options: {
        seeds: text,
        from: text,
        jobs: text,
        minutes: text,
        seed: text,
        trace: text,
        without: text,
        break: text,
        ledger: flag,
        json: flag,
        help: flag,
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function whole(option: string, value: string): number {
  const number = Number(value)
  if (Number.isSafeInteger(number) && number >= 1 && value.trim() !== '') return number
  throw new UsageError(`${option} is "${value}"; give a whole number of 1 or more.`)
}

function positive(option: string, value: string): number {
  const number = Number(value)
  if (number > 0 && Number.isFinite(number)) return number
  throw new UsageError(`${option} is "${value}"; give a number above 0.`)
}

function withoutOf(value: string | undefined): readonly (FaultKind | Use)[] {
  const known: readonly (FaultKind | Use)[] = [...FAULTS, ...USES]
  return (value ?? '')
    .split(',')
    .filter((name) => name.trim() !== '')
    .map((name) => {
      const found = known.find((candidate) => candidate === name.trim())
      if (found !== undefined) return found
      throw new UsageError(`--without: there is no "${name.trim()}"; there are: ${known.join(', ')}.`)
    })
}

function brokenOf(value: string | undefined): string | undefined {
  if (
    value === undefined ||
    value === 'list' ||
    Object.hasOwn(PREMISES, value) ||
    Object.hasOwn(defects, value)
  )
    return value
  const names = [...Object.keys(PREMISES), ...Object.keys(defects)].join(', ')
  throw new UsageError(`--break: there is no "${value}"; there are: ${names}.`)
}

/** The arguments that say the same. */
export function argumentsOf({ without, broken }: Choice): string {
  return [
    broken === undefined ? '' : ` --break ${broken}`,
    without.length === 0 ? '' : ` --without '${without.join(',')}'`,
  ].join('')
}

export function isPremise(name: string): name is PremiseName {
  return Object.hasOwn(PREMISES, name)
}
