/** Errors as plain data, and back: what crosses between the two sides of the shell must be cloneable. */
import { BackendError } from '../errors.js'
import type { FlatError } from '../events.js'

/** How deep a chain of causes is followed. */
const MAX_CAUSES = 8

/** Never throws, whatever was thrown: a call that failed must be answered. */
export function flattenError(error: unknown, depth = 0): FlatError {
  try {
    return error instanceof Error ? flatten(error, depth) : { name: 'Error', message: textOf(error) }
  } catch {
    return { name: 'Error', message: 'What was thrown cannot be read.' }
  }
}

function flatten(error: Error, depth: number): FlatError {
  const { name, stack, cause } = error
  const given = 'code' in error ? error.code : undefined
  const code = typeof given === 'string' || typeof given === 'number' ? { code: String(given) } : {}
  const causes = cause === undefined || depth >= MAX_CAUSES ? {} : { cause: flattenError(cause, depth + 1) }
  return {
    name: textOf(name),
    message: messageOf(error),
    ...code,
    ...(typeof stack === 'string' ? { stack } : {}),
    ...causes,
  }
}

/** A host with several addresses that all refuse is an `AggregateError` without a message of its own. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return textOf(error.message)
  return error.errors
    .map((each: unknown) => (each instanceof Error ? textOf(each.message) : textOf(each)))
    .join('; ')
}

/** A `BackendError` for a call that failed, with the chain of its causes. */
export function inflateBackendError(flat: FlatError): BackendError {
  if (flat.code !== 'SIMBA_BACKEND') return new BackendError(flat.message, { cause: inflate(flat) })
  return new BackendError(flat.message, flat.cause === undefined ? undefined : { cause: inflate(flat.cause) })
}

function inflate(flat: FlatError): Error {
  const error = new Error(flat.message, flat.cause === undefined ? undefined : { cause: inflate(flat.cause) })
  error.name = flat.name
  if (flat.stack !== undefined) error.stack = flat.stack
  if (flat.code !== undefined) Object.assign(error, { code: flat.code })
  return error
}

/** May throw, as an object's own methods may. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
