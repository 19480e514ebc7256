/**
 * Every way in which a term ends, with every way in which its work can take that: in which order and when the signal aborts, the work
 * exits, the lease is given back, the next node begins, and the promises settle.
 */
import { Schedule, type Simba, type Term } from '@simba/core'
import { describe, expect } from 'vitest'
import { LEASE, RENEW, test, VALID, type World } from './world.js'

/** When the user acts; no renewal is due then. */
const ENDS_AT = 1_000
const LATE = 2_000

const FORMS = ['task', 'schedule', 'iteration', 'group'] as const
const GIVEN_UP = ['stop', 'stepDown', 'signal', 'close', 'dispose'] as const
const LOST = ['deadline', 'expiry', 'takeover'] as const
const BEHAVIOURS = [
  'exits at once',
  'exits late',
  'never exits',
  'throws',
  'stops itself',
  'returned early',
] as const

type Form = (typeof FORMS)[number]
type Behaviour = (typeof BEHAVIOURS)[number]

/** What is started, in any form: its lease, and the ways to end it. */
interface Started {
  readonly lease: string
  stop(): Promise<void>
  /** Settles when it has ended for good. */
  readonly over: Promise<unknown>
}

class Stage {
  readonly lines: string[] = []
  readonly simba: Simba
  readonly started: Started
  readonly controller = new AbortController()

  constructor(
    readonly world: World,
    private readonly form: Form,
    private readonly behaviour: Behaviour,
  ) {
    this.simba = world.client('a')
    this.started = this.start()
    world.fault({
      decide: ({ on, client, name }) => {
        const givesBack = (on === 'release' && name === this.started.lease) || on === 'closeSession'
        if (client === 'a' && givesBack && world.holderOf(this.started.lease) === this.session)
          this.note('released')
        return undefined
      },
    })
  }

  private session: string | undefined

  note(what: string): void {
    this.lines.push(`${Math.round(this.world.time.now())} ${what}`)
  }

  /** Takes the lease, and lets another node wait for it. */
  async begin(): Promise<void> {
    await this.world.time.settle()
    this.session = this.simba.snapshot().session.id
    expect(this.world.holderOf(this.started.lease)).toBe(this.session)
    const successor = this.world.client('b').election(this.started.lease)
    successor.start({ onElected: () => this.note('succeeded') })
    await this.world.time.advance(ENDS_AT - this.world.time.now())
  }

  private start(): Started {
    const { simba, form } = this
    const { signal } = this.controller
    const election = simba.election('report')
    switch (form) {
      case 'task': {
        const task = election.runWhileLeader((term) => this.work(term), { signal })
        return { lease: 'report', stop: () => task.stop(), over: task.done }
      }
      case 'schedule': {
        const task = election.schedule(Schedule.fixedDelay('1h'), (term) => this.work(term), { signal })
        return { lease: 'report', stop: () => task.stop(), over: task.done }
      }
      case 'group': {
        const group = simba.group('g', { partitions: 1 })
        const task = group.runWhileLeader((term) => this.work(term), { signal })
        return { lease: 'g.0', stop: () => task.stop(), over: task.done }
      }
      case 'iteration': {
        const loop = async () => {
          for await (const term of election.terms({ signal })) await this.work(term)
        }
        return { lease: 'report', stop: () => election.stop(), over: loop().catch(() => {}) }
      }
    }
  }

  /** Only the first term is looked at. */
  private async work(term: Term): Promise<void> {
    const { behaviour, world } = this
    if (behaviour === 'returned early' || term.token > 1n) return
    await new Promise<void>((resolve) => {
      term.signal.addEventListener('abort', () => {
        this.note('aborted')
        resolve()
      })
    })
    if (behaviour === 'exits late') await world.time.sleep(LATE)
    if (behaviour === 'never exits') await new Promise(() => {})
    if (behaviour === 'stops itself') await this.started.stop()
    this.note('exited')
    if (behaviour === 'throws') throw new Error('The work failed.')
  }
}

function exitsAfter(behaviour: Behaviour): number {
  return behaviour === 'exits late' ? LATE : behaviour === 'never exits' ? Number.POSITIVE_INFINITY : 0
}

function cells<E extends string>(endings: readonly E[]): [Form, E, Behaviour][] {
  return FORMS.flatMap((form) =>
    endings.flatMap((ending) =>
      BEHAVIOURS.map((behaviour): [Form, E, Behaviour] => [form, ending, behaviour]),
    ),
  )
}

describe('a term that is given up', () => {
  test.for(cells(GIVEN_UP))('%s, %s, work %s', async ([form, ending, behaviour], { world }) => {
    if (form === 'group' && ending === 'stepDown') return // a group has none
    const stage = new Stage(world, form, behaviour)
    const { started, simba } = stage
    await stage.begin()

    const settled = end()
    void settled.then(() => stage.note('settled'))
    await world.time.advance(2 * LEASE)

    // Work that never exits is waited for until the deadline as it stood at the end, however often the session is renewed meanwhile.
    const exitedAt = ENDS_AT + exitsAfter(behaviour)
    const releasedAt = Math.min(exitedAt, VALID)
    const idle = behaviour === 'returned early'
    const expected = [
      ...(idle ? [] : [`${ENDS_AT} aborted`]),
      ...(idle || behaviour === 'never exits' ? [] : [`${exitedAt} exited`]),
      `${releasedAt} released`,
    ]
    expect(stage.lines.slice(0, expected.length)).toEqual(expected)
    expect(stage.lines.slice(expected.length).sort()).toEqual([
      `${releasedAt} settled`,
      `${releasedAt} succeeded`,
    ])

    function end(): Promise<unknown> {
      switch (ending) {
        case 'stop':
          return started.stop()
        case 'stepDown':
          return simba.election('report').stepDown()
        case 'close':
          return simba.close()
        case 'dispose':
          return simba[Symbol.asyncDispose]()
        case 'signal':
          stage.controller.abort()
          return form === 'iteration' && behaviour === 'never exits'
            ? simba.election('report').stop()
            : started.over
      }
    }
  })

  test.for(FORMS)(
    '%s, closed by force: the lease is given back before the work has exited',
    async (form, { world }) => {
      const stage = new Stage(world, form, 'exits late')
      await stage.begin()
      void stage.simba.close({ force: true }).then(() => stage.note('settled'))
      await world.time.advance(LATE)

      expect(stage.lines[0]).toBe(`${ENDS_AT} aborted`)
      expect(stage.lines.slice(0, 4).sort()).toEqual([
        `${ENDS_AT} aborted`,
        `${ENDS_AT} released`,
        `${ENDS_AT} settled`,
        `${ENDS_AT} succeeded`,
      ])
      expect(stage.lines.at(-1)).toBe(`${ENDS_AT + LATE} exited`)
    },
  )
})

describe('a term that is lost', () => {
  test.for(cells(LOST))('%s, %s, work %s', async ([form, ending, behaviour], { world }) => {
    const stage = new Stage(world, form, behaviour)
    const { started, simba } = stage
    await stage.begin()
    const { term } = simba.election(started.lease)
    const lostAt = await lose()
    const revoked = world.track(term?.revoked ?? Promise.reject())
    await world.time.advance(lostAt - world.time.now())

    // Nothing is waited for, and nothing released: the lease may be another's already.
    expect(revoked).toMatchObject({ status: 'fulfilled', at: lostAt })
    expect(term?.isValid).toBe(false)
    expect(releases()).toEqual([])
    if (behaviour !== 'returned early') expect(stage.lines).toContain(`${lostAt} aborted`)

    // Once the other node is gone, this one leads again, unless its user has stopped it; an iteration does so only after its body.
    world.heal()
    await world.time.advance(LEASE)
    await world.soon(world.get('b').close())
    await world.time.advance(RENEW)
    const ended = behaviour === 'stops itself' || (form === 'iteration' && behaviour === 'throws')
    const busy = form === 'iteration' && behaviour === 'never exits'
    expect(simba.election(started.lease).term?.isValid).toBe(ended || busy ? undefined : true)

    // Old work that still runs does not hold up a stop.
    await world.soon(started.stop())

    async function lose(): Promise<number> {
      const session = { id: simba.snapshot().session.id ?? '', leaseMs: LEASE }
      switch (ending) {
        case 'deadline':
          world.fault({ client: 'a', kind: 'lose-request' })
          return VALID
        case 'expiry':
          world.backend.expireSession(session.id)
          return RENEW
        case 'takeover': {
          const call = { signal: new AbortController().signal, timeoutMs: 1 }
          await world.backend.release(session, started.lease, 1n, call)
          return RENEW
        }
      }
    }

    function releases(): unknown[] {
      return world.callsOf('release', 'a').filter(({ name }) => name === started.lease)
    }
  })
})
