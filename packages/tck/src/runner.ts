/**
 * The test runner, as the suites see it: two functions, which vitest, jest and node:test all have, and which mean the same there.
 *
 * Set-up and tear-down happen inside each case, so that no hooks are needed.
 */

/** Registers one case. The runner waits for the promise; a rejection is a failure. */
export interface RegisterCase {
  // vitest and jest take the time limit as the third argument; node:test has none by default and ignores it.
  (title: string, body: () => Promise<void>, timeoutMs?: number): unknown
  readonly skip?: (title: string, body: () => Promise<void>) => unknown
}

/**
 * What a suite needs of a test runner: `describe`, and `it` or `test`.
 *
 * @example
 * import { describe, it } from 'vitest' // or from 'node:test', or from '@jest/globals'
 * leaseBackendSpec({ runner: { describe, it }, ... })
 */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown
  readonly it?: RegisterCase
  /** Used where there is no `it`. */
  readonly test?: RegisterCase
}

/** One case, ready to be registered. */
export interface PreparedCase {
  readonly title: string
  /** Why the case does not apply; it is registered as skipped then. */
  readonly skip?: string | undefined
  readonly run: () => Promise<void>
}

/** A group of cases with a title of its own. */
export interface PreparedTopic {
  readonly title: string
  readonly cases: readonly PreparedCase[]
}

export interface Registration {
  readonly runner: TestRunner | undefined
  readonly suite: string
  readonly topics: readonly PreparedTopic[]
  readonly timeoutMs: number
  readonly log: (line: string) => void
}

/** @throws Error if no runner was given and there is none among the globals. */
export function register({ runner, suite, topics, timeoutMs, log }: Registration): void {
  const { describe, it } = resolve(runner)
  describe(suite, () => {
    for (const { title, cases } of topics) {
      describe(title, () => {
        for (const { title, skip, run } of cases) {
          if (skip === undefined) it(title, run, timeoutMs)
          // Without `skip` there is nothing to register: the line that tells the reason has to do.
          else it.skip?.(`${title} [skipped: ${skip}]`, run)
        }
      })
    }
  })
  const reasons = new Map<string, number>()
  for (const { cases } of topics) {
    for (const { skip } of cases) if (skip !== undefined) reasons.set(skip, (reasons.get(skip) ?? 0) + 1)
  }
  for (const [reason, count] of reasons) log(`${suite}: skips ${count} cases: ${reason}`)
}

function resolve(runner: TestRunner | undefined): {
  readonly describe: TestRunner['describe']
  readonly it: RegisterCase
} {
  const { describe, it, test } = runner ?? globalRunner()
  const register = it ?? test
  if (typeof describe === 'function' && typeof register === 'function') return { describe, it: register }
  throw new Error(
    runner === undefined
      ? 'No test runner: there are no global `describe` and `it`. Give those of yours, such as ' +
          "`import { describe, it } from 'vitest'` (or 'node:test') and `{ runner: { describe, it }, ... }`."
      : 'The test runner given lacks `describe`, or both of `it` and `test`. Give { runner: { describe, it } }.',
  )
}

type PartialRunner = { readonly [K in keyof TestRunner]?: TestRunner[K] | undefined }

function globalRunner(): PartialRunner {
  // `setTimeout` is there so that the compiler sees that the two have something in common.
  const globals: PartialRunner & { readonly setTimeout: unknown } = globalThis
  return globals
}
