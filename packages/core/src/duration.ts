/** Durations as users write them. Inside the library they are milliseconds. */
import { ConfigError } from './errors.js'

/** A number of milliseconds, or a text such as `'500ms'`, `'15s'`, `'1m'`, `'2h'` or `'1d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * The milliseconds of a duration, for backends and others that take durations as options too.
 *
 * @param what names it in messages.
 * @param atLeastMs the smallest that is allowed; 0 by default.
 * @throws ConfigError if it is not a duration, or too short.
 */
export function toMs(duration: Duration, what: string, atLeastMs = 0): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (ms === undefined || !Number.isFinite(ms)) {
    throw new ConfigError(
      `${what} is ${show(duration)}; give a number of milliseconds, or a text such as '500ms', '15s', '1m', '2h' or '1d'.`,
    )
  }
  if (ms < atLeastMs)
    throw new ConfigError(`${what} is ${show(duration)}; it must be at least ${atLeastMs} ms.`)
  return ms
}

function parse(text: unknown): number | undefined {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) : null
  const [, amount, unit] = match ?? []
  if (amount === undefined || unit === undefined || !isUnit(unit)) return undefined
  return Number(amount) * UNIT_MS[unit]
}

function isUnit(unit: string): unit is keyof typeof UNIT_MS {
  return Object.hasOwn(UNIT_MS, unit)
}

function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
