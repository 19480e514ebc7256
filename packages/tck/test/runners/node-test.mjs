// The suites under node:test, with the built packages: `node --test packages/tck/test/runners/node-test.mjs`
import { describe, it } from 'node:test'
import { fencingSpec, leaseBackendSpec } from '@simba/tck'
import { MemoryLeaseBackend, VirtualTime } from '@simba/testing'

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

class Register {
  #token = 0n
  #value

  async write(token, value) {
    if (token < this.#token) return false
    this.#token = token
    this.#value = value
    return true
  }

  async read() {
    return this.#value
  }
}

fencingSpec({ name: 'register', runner: { describe, it }, create: () => new Register() })
