import type { TestRunner } from '@simba/tck'

/** What became of one case. */
export interface Outcome {
  /** The titles of its suite, its topic and itself. */
  readonly path: string
  readonly skipped: boolean
  readonly error?: Error
}

/** Collects what a suite registers, and runs it: a test runner that tells a test how the tests went. */
export async function outcomesOf(registerAt: (runner: TestRunner) => void): Promise<Outcome[]> {
  const titles: string[] = []
  const cases: { readonly path: string; readonly body?: () => Promise<void> }[] = []
  const pathOf = (title: string) => [...titles, title].join(' > ')
  registerAt({
    describe: (title, body) => {
      titles.push(title)
      body()
      titles.pop()
    },
    it: Object.assign(
      (title: string, body: () => Promise<void>) => cases.push({ path: pathOf(title), body }),
      { skip: (title: string) => cases.push({ path: pathOf(title) }) },
    ),
  })
  const outcomes: Outcome[] = []
  for (const { path, body } of cases) {
    if (body === undefined) {
      outcomes.push({ path, skipped: true })
      continue
    }
    try {
      await body()
      outcomes.push({ path, skipped: false })
    } catch (error) {
      if (!(error instanceof Error)) throw new Error(`${path} threw ${String(error)}, which is no Error`)
      outcomes.push({ path, skipped: false, error })
    }
  }
  return outcomes
}

export function failuresOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ path, error }) => (error === undefined ? [] : [`${path}: ${error.message}`]))
}
