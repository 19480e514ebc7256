import { ConfigError, type Duration } from '@simba/core'

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** @throws ConfigError unless it is a duration of at least 1 ms. */
export function toMs(duration: Duration, what: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration)) ?? []
  const ms =
    typeof duration === 'number' ? duration : Number(amount) * (UNIT_MS.get(unit ?? '') ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 1) return ms
  throw new ConfigError(
    `${what} is ${JSON.stringify(duration)}; give a number of milliseconds, at least 1, or a text such as '500ms', '15s', '1m', '2h' or '1d'.`,
  )
}
