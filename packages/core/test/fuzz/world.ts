/**
 * A small world of clients over one memory backend, driven by a seed: messages delayed, lost and repeated, clients paused, the backend
 * frozen and restarted, users that start, stop, step down, lock and group. Laws are checked from outside as it goes.
 */
import { Schedule, Simba, type SimbaEvent, type Term } from '@simba/core'
import {
  type Fault,
  type MemoryConnection,
  MemoryLeaseBackend,
  type VirtualClock,
  VirtualTime,
} from '@simba/testing'

const LEASE_MS = 3_000
const NAMES = ['a', 'b', 'c']
const PARTITIONS = 4

function generator(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let word = Math.imul(state ^ (state >>> 15), state | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 4294967296
  }
}

interface Node {
  readonly id: string
  readonly clock: VirtualClock
  readonly simba: Simba
  readonly pending: Set<Promise<unknown>>
  readonly stops: Map<string, () => Promise<void>>
  paused: boolean
  cutOff: boolean
}

export interface Outcome {
  readonly violations: readonly string[]
  readonly trace: readonly string[]
  readonly elected: number
}

export class World {
  private readonly random: () => number
  private readonly time = new VirtualTime({ watchdogMs: false })
  private readonly backend: MemoryLeaseBackend
  private readonly nodes: Node[] = []
  private readonly terms: { readonly node: string; readonly term: Term; wasInvalid: boolean }[] = []
  private readonly highest = new Map<string, bigint>()
  private readonly violations: string[] = []
  private readonly trace: string[] = []
  private elected = 0
  private calm = false
  private readonly rates: {
    readonly delay: number
    readonly lose: number
    readonly repeat: number
    readonly fail: number
  }

  constructor(readonly seed: number) {
    this.random = generator(seed)
    this.backend = new MemoryLeaseBackend({ clock: this.time, random: generator(seed + 1) })
    const rate = () => (this.random() < 0.5 ? 0 : this.random() * 0.25)
    this.rates = { delay: rate(), lose: rate(), repeat: rate(), fail: rate() }
    this.backend.faults.add({ decide: (target) => this.fault(target.client, target.on) })
    for (const id of ['n1', 'n2', 'n3']) this.nodes.push(this.newNode(id))
  }

  private newNode(id: string): Node {
    const clock = this.time.clock({ rate: 1 + (this.random() - 0.5) * 0.018, offset: this.random() * 1000 })
    const connection: MemoryConnection = this.backend.connect(id)
    const simba = new Simba({
      backend: connection,
      clock,
      leaseDuration: LEASE_MS,
      seed: Math.floor(this.random() * 2 ** 31),
      logger: { warn() {}, error() {} },
    })
    simba.subscribe((event) => this.onEvent(id, event))
    return { id, clock, simba, pending: new Set(), stops: new Map(), paused: false, cutOff: false }
  }

  private note(text: string): void {
    this.trace.push(`${this.time.now().toFixed(1).padStart(9)} ${text}`)
  }

  private violate(text: string): void {
    this.violations.push(text)
    this.note(`VIOLATION ${text}`)
  }

  private onEvent(node: string, event: SimbaEvent): void {
    const { type, ...rest } = event
    const shown = JSON.stringify(rest, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value instanceof Error ? value.message : value,
    ).replace(/"stack":"[^"]*",?/g, '')
    this.note(`${node} ${type} ${shown.slice(0, 160)}`)
    if (event.type !== 'Elected') return
    this.elected += 1
    const highest = this.highest.get(event.name) ?? 0n
    if (event.token <= highest) this.violate(`token of ${event.name} went from ${highest} to ${event.token}`)
    else this.highest.set(event.name, event.token)
  }

  private fault(client: string, on: string): Fault | readonly Fault[] | undefined {
    if (this.calm) return undefined
    const node = this.nodes.find(({ id }) => id === client)
    if (node?.cutOff) return { kind: this.random() < 0.5 ? 'lose-request' : 'lose-reply' }
    const { delay, lose, repeat, fail } = this.rates
    const ms = () => Math.floor(this.random() * 2.5 * (LEASE_MS / 3))
    if (this.random() < delay)
      return { kind: this.random() < 0.5 ? 'delay-request' : 'delay-reply', ms: ms() }
    if (this.random() < lose) return { kind: this.random() < 0.5 ? 'lose-request' : 'lose-reply' }
    // A join that is answered and then carried out once more after a later leave is beyond what can be noticed.
    if (on !== 'join' && this.random() < repeat) return { kind: 'repeat-request', ms: ms() }
    if (this.random() < fail) return { kind: this.random() < 0.5 ? 'fail-before' : 'fail-after' }
    return undefined
  }

  private pick<T>(from: readonly T[]): T {
    const value = from[Math.floor(this.random() * from.length)]
    if (value === undefined) throw new Error('empty')
    return value
  }

  private track(node: Node, what: string, promise: Promise<unknown>): void {
    const entry = promise.catch(() => {}).finally(() => node.pending.delete(entry))
    Object.assign(entry, { what })
    node.pending.add(entry)
  }

  private work(): (term: Term) => Promise<void> {
    const style = this.random()
    const node = this.nodes
    void node
    return async (term) => {
      this.terms.push({ node: 'work', term, wasInvalid: false })
      if (style < 0.2) return
      if (style < 0.3) throw new Error('work failed')
      await term.revoked
      if (style < 0.6) return
      await this.time.sleep(this.random() * 4000)
    }
  }

  private act(): void {
    const node = this.pick(this.nodes)
    const name = this.pick(NAMES)
    const dice = this.random()
    const { simba } = node
    try {
      if (dice < 0.18) {
        const kind = Math.floor(this.random() * 4)
        this.note(`${node.id} start ${name} kind ${kind}`)
        const election = simba.election(name)
        if (kind === 0) {
          election.start({
            onElected: (term) => void this.terms.push({ node: node.id, term, wasInvalid: false }),
          })
        } else if (kind === 1) election.runWhileLeader(this.work())
        else if (kind === 2) election.schedule(Schedule.fixedRate('500ms'), this.work())
        else {
          this.track(
            node,
            `terms ${name}`,
            (async () => {
              for await (const term of election.terms()) {
                await this.work()(term)
                if (this.random() < 0.3) break
              }
            })(),
          )
        }
      } else if (dice < 0.3) {
        this.note(`${node.id} stop ${name}`)
        this.track(node, `stop ${name}`, simba.election(name).stop())
      } else if (dice < 0.4) {
        const ms = Math.floor(this.random() * 3000)
        this.note(`${node.id} stepDown ${name} ${ms}`)
        this.track(node, `stepDown ${name}`, simba.election(name).stepDown(ms))
      } else if (dice < 0.55) {
        this.note(`${node.id} lock`)
        const run = async () => {
          const held =
            this.random() < 0.5
              ? await simba.lock('l').tryAcquire()
              : await simba.lock('l').acquire({ timeout: 4000 })
          if (held === undefined) return
          this.terms.push({ node: node.id, term: held, wasInvalid: false })
          await this.time.sleep(this.random() * 1500)
          await held.release()
        }
        this.track(node, 'lock', run())
      } else if (dice < 0.62) {
        this.note(`${node.id} withLock`)
        this.track(
          node,
          'withLock',
          simba.lock('l').withLock(
            async (term) => {
              this.terms.push({ node: node.id, term, wasInvalid: false })
              await this.time.sleep(this.random() * 1500)
            },
            { timeout: 4000 },
          ),
        )
      } else if (dice < 0.7) {
        const stop = node.stops.get('g')
        this.note(`${node.id} ${stop === undefined ? 'join' : 'leave'} g`)
        if (stop === undefined) {
          const task = simba.group('g', { partitions: PARTITIONS }).runWhileLeader(this.work())
          node.stops.set('g', () => task.stop())
        } else {
          node.stops.delete('g')
          this.track(node, 'leave g', stop())
        }
      } else if (dice < 0.78) {
        node.paused = !node.paused
        this.note(`${node.id} ${node.paused ? 'pause' : 'resume'}`)
        if (node.paused) node.clock.pause()
        else node.clock.resume()
      } else if (dice < 0.86) {
        node.cutOff = !node.cutOff
        this.note(`${node.id} ${node.cutOff ? 'cut off' : 'reconnected'}`)
      } else if (dice < 0.9) {
        this.note('backend freezes')
        this.backend.freeze()
        this.time.setTimer(() => {
          this.note('backend thaws')
          this.backend.thaw()
        }, this.random() * LEASE_MS)
      } else if (dice < 0.93) {
        this.note('backend restarts')
        this.backend.restart()
      }
    } catch (error) {
      this.note(`${node.id} ${error instanceof Error ? error.message.slice(0, 80) : error}`)
    }
  }

  private check(): void {
    const valid = new Map<string, Set<bigint>>()
    for (const entry of this.terms) {
      const { term } = entry
      const isValid = term.isValid
      if (isValid !== term.remaining() > 0) this.violate(`isValid and remaining of ${term.name} differ`)
      if (isValid && term.signal.aborted) this.violate(`aborted and valid: ${term.name} ${term.token}`)
      if (!isValid) entry.wasInvalid = true
      else if (entry.wasInvalid) this.violate(`valid again: ${term.name} ${term.token}`)
      if (isValid) valid.set(term.name, (valid.get(term.name) ?? new Set()).add(term.token))
    }
    for (const [name, tokens] of valid) {
      if (tokens.size > 1) this.violate(`two valid terms of ${name}: ${[...tokens].join(', ')}`)
    }
    if (this.terms.length > 200) this.terms.splice(0, 100)
  }

  async run(steps: number): Promise<Outcome> {
    for (let index = 0; index < steps && this.violations.length === 0; index += 1) {
      this.act()
      await this.time.advance(Math.floor(this.random() * 400))
      this.check()
    }
    await this.heal()
    return { violations: this.violations, trace: this.trace, elected: this.elected }
  }

  private async heal(): Promise<void> {
    if (this.violations.length > 0) return
    this.note('HEAL')
    this.calm = true
    this.backend.thaw()
    for (const node of this.nodes) {
      node.cutOff = false
      if (node.paused) node.clock.resume()
      node.paused = false
    }
    // Late messages, the lease, a retry, the slowest work.
    for (let passed = 0; passed < 8 * LEASE_MS; passed += 250) {
      await this.time.advance(250)
      this.check()
    }
    this.checkLeaders()
    this.checkOrphans()
    const closed = this.nodes.map((node) => ({ node, done: false, promise: node.simba.close() }))
    for (const entry of closed)
      void entry.promise.then(() => {
        entry.done = true
      })
    await this.time.advance(2 * LEASE_MS + 4000)
    for (const { node, done } of closed) {
      if (!done) this.violate(`close of ${node.id} did not settle`)
      for (const entry of node.pending) this.violate(`${node.id} still waits: ${JSON.stringify(entry)}`)
    }
    const { sessions, leases } = this.backend.contents()
    if (sessions.length > 0) this.violate(`${sessions.length} sessions are left`)
    const held = leases.filter(({ holder }) => holder !== undefined)
    if (held.length > 0) this.violate(`leases are left: ${held.map(({ name }) => name).join(', ')}`)
  }

  private checkLeaders(): void {
    const started = new Map<string, string[]>()
    const leading = new Map<string, number>()
    for (const { id, simba } of this.nodes) {
      for (const { name, state, stopping, token } of simba.snapshot().elections) {
        if (stopping) continue
        started.set(name, [...(started.get(name) ?? []), `${id}:${state}`])
        if (token !== undefined) leading.set(name, (leading.get(name) ?? 0) + 1)
      }
    }
    for (const [name, states] of started) {
      if (leading.get(name) !== 1) this.violate(`nobody leads ${name}: ${states.join(' ')}`)
    }
    const members = this.nodes.filter((node) => node.stops.has('g'))
    const assigned = members.flatMap(({ simba }) =>
      simba.snapshot().groups.flatMap(({ partitions }) => partitions),
    )
    if (members.length > 0 && assigned.length !== PARTITIONS) {
      this.violate(`the partitions are spread as ${assigned.join(', ')}`)
    }
  }

  private checkOrphans(): void {
    const { leases, groups } = this.backend.contents()
    for (const { name, holder, token } of leases) {
      if (holder === undefined) continue
      const node = this.nodes.find(({ simba }) => simba.snapshot().session.id === holder)
      const here = [...(node?.simba.snapshot().elections ?? []), ...(node?.simba.snapshot().locks ?? [])]
      if (!here.some((own) => own.name === name && own.token === token)) {
        this.violate(`orphan lease ${name} token ${token} of ${node?.id ?? holder}`)
      }
    }
    for (const { group, members } of groups) {
      for (const member of members) {
        const node = this.nodes.find(({ simba }) => simba.snapshot().session.id === member)
        if (node === undefined || !node.stops.has('g'))
          this.violate(`orphan member of ${group}: ${node?.id ?? member}`)
      }
    }
  }
}
