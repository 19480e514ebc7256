import { leaseBackendSpec } from '@simba/tck'
import { MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { describe, it } from 'vitest'

const time = new VirtualTime({ watchdogMs: false })

leaseBackendSpec({
  name: 'memory',
  runner: { describe, it },
  create: () => new MemoryLeaseBackend({ clock: time }),
  connect: (backend) => backend.connect('peer'),
  time,
  tolerance: { earlyMs: 0, lateMs: 0 },
  capabilities: { hints: true, inspect: true },
})
