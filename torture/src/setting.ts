/** How a node is started: its only argument, as JSON. */
export interface NodeSetting {
  readonly node: string
  readonly backend: string
  readonly location: string
  readonly journal: string
  readonly leaseMs: number
}
