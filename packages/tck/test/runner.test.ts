import type { CallOptions, KeepAliveReply, Session } from '@simba/core'
import { fencingSpec, type LeaseBackendSpecOptions, leaseBackendSpec, type TestRunner } from '@simba/tck'
import { MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { describe, expect, it, vi } from 'vitest'
import { failuresOf, outcomesOf } from './in-process-runner.js'
import { Delegating } from './mutants/delegating.js'

const time = new VirtualTime({ watchdogMs: false })

/** Neither `connect` nor capabilities. */
function optionsFor(runner: TestRunner | undefined): Omit<LeaseBackendSpecOptions, 'connect' | 'dispose'> {
  return {
    name: 'memory',
    ...(runner === undefined ? {} : { runner }),
    create: () => new MemoryLeaseBackend({ clock: time }),
    time,
    log: () => {},
  }
}

describe('the test runner', () => {
  it('is taken from the globals if none is given', () => {
    const titles: string[] = []
    vi.stubGlobal('describe', (title: string, body: () => void) => {
      titles.push(title)
      body()
    })
    vi.stubGlobal(
      'test',
      Object.assign(() => {}, { skip: () => {} }),
    )
    leaseBackendSpec(optionsFor(undefined))
    expect(titles[0]).toBe('lease backend memory')
  })

  it('is asked for, with an example, if there is none at all', () => {
    expect(() => leaseBackendSpec(optionsFor(undefined))).toThrow("import { describe, it } from 'vitest'")
    expect(() => fencingSpec({ name: 'x', runner: { describe }, create: () => neverUsed() })).toThrow(
      'lacks `describe`, or both of `it` and `test`',
    )
  })

  it('may have `test` instead of `it`, and no skip', async () => {
    const outcomes = await outcomesOf(({ describe, it }) =>
      leaseBackendSpec(optionsFor({ describe, test: (title, body) => it?.(title, body) })),
    )
    expect(outcomes.length).toBeGreaterThan(80)
    expect(outcomes.filter(({ skipped }) => skipped)).toEqual([])
  })

  it('is given a time limit for each case', () => {
    const limits = new Set<number | undefined>()
    const runner: TestRunner = {
      describe: (_, body) => body(),
      it: (_title, _body, timeoutMs) => limits.add(timeoutMs),
    }
    leaseBackendSpec({ ...optionsFor(runner), caseTimeoutMs: 12_345 })
    expect([...limits]).toEqual([12_345])
  })
})

describe('capabilities', () => {
  it('a skipped case says why in its title, and a line says why for all of them', async () => {
    const lines: string[] = []
    const outcomes = await outcomesOf((runner) =>
      leaseBackendSpec({ ...optionsFor(runner), log: (line) => lines.push(line) }),
    )
    const reasons = new Set(
      outcomes.flatMap(({ path, skipped }) => (skipped ? [/\[skipped: (.*)\]$/.exec(path)?.[1]] : [])),
    )
    const expected = [
      'no `connect` was given, so that there is no second backend object',
      'capabilities.hints is not declared',
      'capabilities.inspect is not declared',
    ]
    expect([...reasons].sort()).toEqual([...expected].sort())
    expect(lines).toHaveLength(3)
    for (const reason of expected) expect(lines.join('\n')).toContain(reason)
  })

  it('a method that is there but not declared fails', async () => {
    const outcomes = await outcomesOf((runner) => leaseBackendSpec(optionsFor(runner)))
    const failures = failuresOf(outcomes)
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain('Rule "capabilities" is broken')
    expect(failures[0]).toContain('give capabilities: { hints: true }')
  })

  it('a declared method that is not there fails, in every case that needs it', async () => {
    class Bare extends Delegating {}
    Object.defineProperties(Bare.prototype, { hints: { value: undefined }, inspect: { value: undefined } })
    const outcomes = await outcomesOf((runner) =>
      leaseBackendSpec({
        ...optionsFor(runner),
        create: () => new Bare(time),
        capabilities: { hints: true, inspect: true },
      }),
    )
    const failures = failuresOf(outcomes)
    expect(failures).toHaveLength(
      outcomes.filter(({ path }) => /> (hints|inspect|cap\w+) >/.test(path)).length,
    )
    for (const failure of failures) expect(failure).toContain('Rule "capabilities" is broken')
  })
})

describe('options', () => {
  it('numbers that cannot be used are refused, with what is allowed', () => {
    const runner: TestRunner = { describe: () => {}, it: () => {} }
    expect(() => leaseBackendSpec({ ...optionsFor(runner), leaseMs: 0 })).toThrow(
      'leaseBackendSpec: leaseMs is 0; give a number of at least 50.',
    )
    expect(() => leaseBackendSpec({ ...optionsFor(runner), tolerance: { earlyMs: Number.NaN } })).toThrow(
      'tolerance.earlyMs is NaN',
    )
  })

  it('what create and connect made is closed and disposed at the end of each case', async () => {
    const open = new Set<object>()
    let closed = 0
    class Counted extends Delegating {
      override async close(): Promise<void> {
        closed++
      }
    }
    const make = () => {
      const backend = new Counted(time)
      open.add(backend)
      return backend
    }
    const outcomes = await outcomesOf((runner) =>
      leaseBackendSpec({
        ...optionsFor(runner),
        create: make,
        connect: make,
        dispose: (backend) => expect(open.delete(backend)).toBe(true),
      }),
    )
    expect(open.size).toBe(0)
    expect(closed).toBeGreaterThanOrEqual(2 * outcomes.filter(({ skipped }) => !skipped).length)
  })

  it('a failure of the clean-up is told, but not in place of what the case found', async () => {
    class Stuck extends Delegating {
      override async close(): Promise<void> {
        throw new Error('stuck')
      }
    }
    const outcomes = await outcomesOf((runner) =>
      leaseBackendSpec({ ...optionsFor(runner), create: () => new Stuck(time) }),
    )
    const failures = failuresOf(outcomes)
    expect(failures).toHaveLength(outcomes.filter(({ skipped }) => !skipped).length)
    expect(failures.filter((failure) => failure.includes('Rule "capabilities"'))).toHaveLength(1)
  })
})

describe('a machine that is too slow', () => {
  /** The failures with a backend whose first renewals take longer than a lease. */
  async function failuresWithSlowRenewals(count: number): Promise<string[]> {
    let left = count
    class Slow extends Delegating {
      override async keepAlive(session: Session, call: CallOptions): Promise<KeepAliveReply> {
        if (left-- > 0) await time.advance(60_000)
        return super.keepAlive(session, call)
      }
    }
    const outcomes = await outcomesOf((runner) =>
      leaseBackendSpec({
        ...optionsFor(runner),
        create: () => new Slow(time),
        capabilities: { hints: true, inspect: true },
      }),
    )
    return failuresOf(outcomes)
  }

  it('is no broken rule: the case is run again', async () => {
    expect(await failuresWithSlowRenewals(2)).toEqual([])
  })

  it('is told of when it stays too slow, with what to change', async () => {
    const failures = await failuresWithSlowRenewals(3)
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain('No verdict: keepAlive')
    expect(failures[0]).toContain('longer lease durations (leaseMs, longLeaseMs)')
  })
})

function neverUsed(): never {
  throw new Error('create was called before any case ran')
}
