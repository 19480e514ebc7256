/** The story as JSON, one object a line. */
import type { Printer } from './narrator.js'

export function jsonPrinter(write: (text: string) => void): Printer {
  const line = (value: object) => write(`${JSON.stringify(value, rounded)}\n`)
  return { event: line, summary: line }
}

/** To the microsecond; floating point would print more. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value
}
