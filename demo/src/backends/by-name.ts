/** The backends that `--backend` knows. A new one is an adapter beside this file, and a line in here. */
import type { DemoBackend } from './backend.js'
import { sqlite } from './sqlite.js'

export const backends: ReadonlyMap<string, DemoBackend> = new Map([sqlite].map((one) => [one.name, one]))
