/** The one place where entropy enters: seeds of the engine's jitter. */
import { randomBytes } from 'node:crypto'

/** A random 32-bit integer. */
export function randomSeed(): number {
  return randomBytes(4).readInt32LE()
}
