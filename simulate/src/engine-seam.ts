/**
 * Puts something around the engine of all clients of this process: modules that are loaded afterwards get a watched `step` instead of
 * the engine's own. So the published packages need no seam for it.
 */
import { register } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Step, Wrap } from './engine.js'

interface Seam {
  wraps: Wrap[]
}

const seam: Seam = { wraps: [] }

/** Before the first import of `@simba/core`. */
export function openSeam(): void {
  register('./engine-resolver.js', pathToFileURL(import.meta.filename ?? new URL(import.meta.url).pathname))
}

/** What is put around the engine from now on, the last one outermost. */
export function wrapEngine(...wraps: Wrap[]): void {
  seam.wraps = wraps
}

/** The step that a client runs. */
export function seamed(own: Step): Step {
  let wraps: readonly Wrap[] = []
  let wrapped = own
  return (state, event, now) => {
    if (wraps !== seam.wraps) {
      wraps = seam.wraps
      wrapped = seam.wraps.reduce((inner, wrap) => wrap(inner), own)
    }
    return wrapped(state, event, now)
  }
}
