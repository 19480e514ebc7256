/** Errors as plain data, and back: what crosses between the two sides of the shell must be cloneable. */
import { BackendError } from '../errors.js'
import type { FlatError } from '../events.js'

/** How deep a chain of causes is followed. */
const MAX_CAUSES = 8

export function flattenError(error: unknown, depth = 0): FlatError {
  if (!(error instanceof Error))
    return { name: 'Error', message: typeof error === 'string' ? error : inspect(error) }
  const { name, message, stack, cause } = error
  const code = 'code' in error && error.code !== undefined ? { code: String(error.code) } : {}
  const causes = cause === undefined || depth >= MAX_CAUSES ? {} : { cause: flattenError(cause, depth + 1) }
  return { name, message, ...code, ...(stack === undefined ? {} : { stack }), ...causes }
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

function inspect(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
