import { type FencedResource, type FencingSpecOptions, fencingSpec } from '@simba/tck'
import { describe, expect, it } from 'vitest'
import { failuresOf, outcomesOf } from './in-process-runner.js'

/** Where several handles write: one row of a table. */
interface Row {
  token: bigint
  value: string | undefined
}

type Pause = () => Promise<void>

const noPause: Pause = async () => {}

/** As a round trip to a storage. */
async function roundTrip(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await Promise.resolve()
}

/** `update … set value, token where token <= given`, as one statement. */
class Conditional implements FencedResource {
  readonly row: Row
  protected readonly pause: Pause

  constructor(row: Row = { token: 0n, value: undefined }, pause: Pause = noPause) {
    this.row = row
    this.pause = pause
  }

  async write(token: bigint, value: string): Promise<boolean> {
    await roundTrip()
    const accepted = this.accepts(token, value)
    if (accepted) Object.assign(this.row, { token, value })
    await roundTrip()
    return accepted
  }

  async read(): Promise<string | undefined> {
    await roundTrip()
    return this.row.value
  }

  protected accepts(token: bigint, _: string): boolean {
    return token >= this.row.token
  }
}

/** Checks, then writes, under a lock: the pause is inside. */
class Locking extends Conditional {
  #last: Promise<unknown> = Promise.resolve()

  override write(token: bigint, value: string): Promise<boolean> {
    const write = this.#last.then(async () => {
      const accepted = token >= this.row.token
      await this.pause()
      if (accepted) Object.assign(this.row, { token, value })
      return accepted
    })
    this.#last = write
    return write
  }
}

/** Checks, and writes if nothing has changed since; begins again otherwise. */
class CompareAndSet extends Conditional {
  override async write(token: bigint, value: string): Promise<boolean> {
    for (;;) {
      const seen = this.row.token
      if (token < seen) return false
      await this.pause()
      await roundTrip()
      if (this.row.token !== seen) continue
      Object.assign(this.row, { token, value })
      return true
    }
  }
}

class CheckThenWrite extends Conditional {
  override async write(token: bigint, value: string): Promise<boolean> {
    if (token < this.row.token) return false
    await this.pause()
    await roundTrip()
    Object.assign(this.row, { token, value })
    return true
  }
}

type Resource = new (row?: Row, pause?: Pause) => Conditional

function optionsFor(Kind: Resource): FencingSpecOptions<Conditional> {
  return {
    name: Kind.name,
    create: () => new Kind(),
    connect: ({ row }) => new Kind(row),
    createPausable: (pause) => new Kind(undefined, pause),
    pauseMs: 20,
  }
}

fencingSpec({ ...optionsFor(Conditional), runner: { describe, it } })
// One lock for all handles: each case uses one.
fencingSpec({
  name: 'Locking',
  runner: { describe, it },
  create: () => new Locking(),
  createPausable: (pause) => new Locking(undefined, pause),
  pauseMs: 20,
})
fencingSpec({ ...optionsFor(CompareAndSet), runner: { describe, it } })

const broken: readonly {
  readonly defect: string
  readonly caught: string
  readonly rule: string
  readonly make: Resource
}[] = [
  {
    defect: 'the recipe without its check',
    caught: 'a smaller token is refused, and the value stays',
    rule: 'smaller',
    make: class extends Conditional {
      protected override accepts(): boolean {
        return true
      }
    },
  },
  {
    defect: '< instead of <=',
    caught: 'an equal token is accepted with a new value',
    rule: 'equal',
    make: class extends Conditional {
      protected override accepts(token: bigint): boolean {
        return this.row.token < token
      }
    },
  },
  {
    defect: 'tokens compared as texts',
    caught: 'tokens are compared as numbers, not as texts',
    rule: 'numeric',
    make: class extends Conditional {
      protected override accepts(token: bigint): boolean {
        return String(token) >= String(this.row.token)
      }
    },
  },
  {
    defect: 'tokens compared as doubles, as Lua has them',
    caught: 'tokens above 2^53 are compared exactly',
    rule: 'numeric',
    make: class extends Conditional {
      protected override accepts(token: bigint): boolean {
        return Number(token) >= Number(this.row.token)
      }
    },
  },
  {
    defect: 'tokens compared as 32-bit numbers',
    caught: 'larger tokens are accepted, with gaps of any size',
    rule: 'larger',
    make: class extends Conditional {
      protected override accepts(token: bigint): boolean {
        return BigInt.asIntN(32, token) >= BigInt.asIntN(32, this.row.token)
      }
    },
  },
  {
    defect: 'changed rows counted instead of matched ones',
    caught: 'an equal token is accepted with the same value',
    rule: 'equal',
    make: class extends Conditional {
      protected override accepts(token: bigint, value: string): boolean {
        return super.accepts(token, value) && (token !== this.row.token || value !== this.row.value)
      }
    },
  },
  {
    defect: 'the value is written before the check',
    caught: 'a smaller token is refused, and the value stays',
    rule: 'smaller',
    make: class extends Conditional {
      protected override accepts(token: bigint, value: string): boolean {
        this.row.value = value
        return super.accepts(token, value)
      }
    },
  },
  {
    defect: 'the token of a refused write is remembered',
    caught: 'a refused token is not remembered',
    rule: 'smaller',
    make: class extends Conditional {
      protected override accepts(token: bigint, value: string): boolean {
        const accepted = super.accepts(token, value)
        this.row.token = token
        return accepted
      }
    },
  },
  {
    defect: 'a stale write is refused once only',
    caught: 'a smaller token is refused however often it is tried',
    rule: 'smaller',
    make: class extends Conditional {
      #refused = 0

      protected override accepts(token: bigint, value: string): boolean {
        if (super.accepts(token, value)) return true
        return ++this.#refused > 5
      }
    },
  },
  {
    defect: 'a token is not remembered if the value is the same',
    caught: 'a larger token is accepted with the same value, and counts',
    rule: 'smaller',
    make: class extends Conditional {
      override async write(token: bigint, value: string): Promise<boolean> {
        return value === this.row.value && token >= this.row.token ? true : super.write(token, value)
      }
    },
  },
  {
    defect: 'the first token is not remembered',
    caught: 'a smaller token is refused, and the value stays',
    rule: 'smaller',
    make: class extends Conditional {
      override async write(token: bigint, value: string): Promise<boolean> {
        if (this.row.value !== undefined) return super.write(token, value)
        this.row.value = value
        return true
      }
    },
  },
  {
    defect: 'only tokens that follow each other are accepted',
    caught: 'larger tokens are accepted, with gaps of any size',
    rule: 'larger',
    make: class extends Conditional {
      protected override accepts(token: bigint): boolean {
        return this.row.value === undefined || token === this.row.token || token === this.row.token + 1n
      }
    },
  },
  {
    defect: 'the first write needs a token of 1',
    caught: 'the first write is accepted with a large token too',
    rule: 'first',
    make: class extends Conditional {
      protected override accepts(token: bigint, value: string): boolean {
        return this.row.value === undefined ? token === 1n : super.accepts(token, value)
      }
    },
  },
  {
    defect: 'check, then write: many at once',
    caught: 'of many writes at once, that with the largest token stands',
    rule: 'atomic',
    make: CheckThenWrite,
  },
  {
    defect: 'check, then write: two writers',
    caught: 'a write that began earlier does not overwrite one with a larger token',
    rule: 'atomic',
    make: class extends Conditional {
      // The older writers of the case have odd tokens: they are the slow ones.
      override async write(token: bigint, value: string): Promise<boolean> {
        if (token < this.row.token) return false
        if (token % 2n === 1n) for (let turn = 0; turn < 12; turn++) await Promise.resolve()
        Object.assign(this.row, { token, value })
        return true
      }
    },
  },
  {
    defect: 'check, then write: a gap that a test can widen',
    caught: 'nothing comes between the check of the token and the change',
    rule: 'atomic',
    make: CheckThenWrite,
  },
  {
    defect: 'a lost race is reported as a stale token',
    caught: 'of many writes at once, that with the largest token stands',
    rule: 'larger',
    make: class extends Conditional {
      override async write(token: bigint, value: string): Promise<boolean> {
        const seen = this.row.token
        if (token < seen) return false
        await roundTrip()
        if (this.row.token !== seen) return false
        Object.assign(this.row, { token, value })
        return true
      }
    },
  },
]

describe('the suite catches broken resources', () => {
  for (const { defect, caught, rule, make } of broken) {
    it(defect, async () => {
      const outcomes = await outcomesOf((runner) => fencingSpec({ ...optionsFor(make), runner }))
      const failures = failuresOf(outcomes)
      const telling = failures.filter((failure) => failure.includes(caught))
      expect(telling, `failed were:\n${failures.join('\n')}`).toHaveLength(1)
      expect(telling[0]).toContain(`Rule "${rule}" of fencing is broken: `)
    })
  }
})

describe('the suite frees what it makes', () => {
  it('each handle once, the first one last, also when a case fails', async () => {
    const live = new Set<FencedResource>()
    const disposed: FencedResource[] = []
    const make = <R extends FencedResource>(resource: R): R => {
      live.add(resource)
      return resource
    }
    await outcomesOf((runner) =>
      fencingSpec<Conditional>({
        name: 'counted',
        runner,
        create: () => make(new CheckThenWrite()),
        connect: ({ row }) => make(new CheckThenWrite(row)),
        createPausable: (pause) => make(new CheckThenWrite(undefined, pause)),
        pauseMs: 5,
        dispose: (resource) => {
          expect(live.delete(resource)).toBe(true)
          disposed.push(resource)
        },
      }),
    )
    expect(live.size).toBe(0)
    expect(disposed.length).toBeGreaterThan(0)
  })
})
