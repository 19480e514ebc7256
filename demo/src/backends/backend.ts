/** What the demo needs of a backend: one small adapter for each. */
import type { LeaseBackend } from '@simba/core'

export interface DemoBackend {
  /** As it is given to `--backend`. */
  readonly name: string
  /** For the first line of the story, such as "one SQLite file". */
  readonly place: string

  /** Makes what the nodes share, and returns what {@link connect} needs to find it. `folder` is removed after the demo. */
  prepare(folder: string): Promise<string>

  /** What one node opens, once. */
  connect(location: string): Promise<Connection>
}

export interface Connection {
  readonly backend: LeaseBackend
  readonly ledger: Ledger
  close(): Promise<void>
}

/** The resource that only the leader may write to: it checks the fencing token and writes in one step. */
export interface Ledger {
  /** Writes if no write with a higher token has been accepted before. */
  write(token: bigint, node: string, value: number): Promise<WriteResult>
}

export type WriteResult =
  /** `position` counts the accepted writes: the ledger's own order of things, which needs no clock. */
  | { readonly accepted: true; readonly position: number }
  /** `highest` is the token that stood in the way. */
  | { readonly accepted: false; readonly highest: bigint }
