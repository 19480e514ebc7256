import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

test('the guide shows the example as it is', async () => {
  const example = await readFile(new URL('nightly-report.test.ts', import.meta.url), 'utf8')
  const guide = await readFile(new URL('../../../../docs/testing-your-code.md', import.meta.url), 'utf8')
  expect(guide).toContain(example)
})
