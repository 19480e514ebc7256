/** Checks of what users pass to calls. The types say the same; a message says it to whoever has none, or has a typo in a spread object. */
import { ConfigError } from './errors.js'

/** Refuses what are no options, and options that do not exist: a misspelt one would silently do nothing. */
export function checkKeys(what: string, options: object, known: { readonly [name: string]: true }): void {
  const names = Object.keys(known).join(', ')
  if (typeof options !== 'object' || options === null || isSignal(options)) {
    throw new ConfigError(
      `${what} takes its options as an object: { ${names} }. Given was ${isSignal(options) ? 'an AbortSignal itself' : show(options)}.`,
    )
  }
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(known, key)) continue
    throw new ConfigError(`${what} has no option "${key}"; there are: ${names}.`)
  }
  if (!Object.hasOwn(known, 'signal') || !('signal' in options) || options.signal === undefined) return
  if (isSignal(options.signal)) return
  throw new ConfigError(
    `${what}: the option signal must be an AbortSignal; given was ${show(options.signal)}. Of an AbortController, pass its signal.`,
  )
}

/** Of any realm or implementation. */
function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' &&
    value !== null &&
    'aborted' in value &&
    'addEventListener' in value &&
    'throwIfAborted' in value
  )
}

/** Refuses what cannot be called. */
export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function')
    throw new ConfigError(`${what} must be a function; given was ${show(value)}.`)
}

/** A value as an error message names it. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) {
    const { name = '' } = value.constructor ?? {}
    return name === '' || name === 'Object' ? 'an object' : `an object of class ${name}`
  }
  return typeof value === 'function' ? 'a function' : String(value)
}
