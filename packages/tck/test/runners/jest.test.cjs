// The suites under jest 30 as it is out of the box: CommonJS, and `describe` and `it` are globals.
const { fencingSpec, leaseBackendSpec } = require('@simba/tck')
const { MemoryLeaseBackend, VirtualTime } = require('@simba/testing')

const time = new VirtualTime({ watchdogMs: false })

leaseBackendSpec({
  name: 'memory',
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

fencingSpec({ name: 'register', create: () => new Register() })
