/** What passes between the story and its nodes. It serves the telling only: the judge does not see it. */

/** From a node. Times are those of the machine's monotonic clock, in ms. */
export type Report =
  /** The session is live: the node is a candidate. */
  | { readonly kind: 'up'; readonly at: number }
  | { readonly kind: 'elected'; readonly at: number; readonly token: string; readonly remainingMs: number }
  | { readonly kind: 'revoked'; readonly at: number; readonly token: string; readonly reason: string }
  /** A write to the fenced table was accepted; it was the `writes`-th of this term. */
  | {
      readonly kind: 'wrote'
      readonly at: number
      readonly token: string
      readonly writes: number
      readonly remainingMs: number
    }
  /** The node has looked at `isValid`, and is in the middle of a write that is slow. */
  | { readonly kind: 'midWrite'; readonly at: number; readonly token: string; readonly write: number }
  /** The clock leapt in the middle of the slow write: the process stood still. */
  | { readonly kind: 'woken'; readonly at: number; readonly stoodStillMs: number }
  /** The slow write reached the table. */
  | {
      readonly kind: 'lateWrite'
      readonly at: number
      readonly token: string
      readonly write: number
      readonly accepted: boolean
      /** The token that the table had accepted before; the node's own if the write was accepted. */
      readonly highest: string
    }
  /** The first read of `isValid` after the process stood still. */
  | { readonly kind: 'firstLook'; readonly at: number; readonly token: string; readonly isValid: boolean }
  /** `simba.close()` has settled. */
  | { readonly kind: 'closed'; readonly at: number }

/** To a node: be slow in the next write, so that a stop falls into the middle of it. */
export interface Order {
  readonly kind: 'slowWrite'
}

/** How a node is started: its only argument, as JSON. */
export interface NodeSetting {
  readonly node: string
  readonly backend: string
  readonly location: string
  readonly journal: string
  readonly leaseMs: number
}

export type ReportOf<Kind extends Report['kind']> = Extract<Report, { readonly kind: Kind }>
