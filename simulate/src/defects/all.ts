import { deadlineDefects } from './deadlines.js'
import type { Defect } from './defect.js'
import { endingDefects } from './endings.js'
import { leaseDefects } from './leases.js'

export const defects: Readonly<Record<string, Defect>> = {
  ...deadlineDefects,
  ...leaseDefects,
  ...endingDefects,
}
