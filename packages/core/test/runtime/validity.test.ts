import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { type TermCell, ValidityTable } from '../../src/runtime/validity.js'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

const action = fc.oneof(
  { weight: 5, arbitrary: fc.constant('begin' as const) },
  { weight: 4, arbitrary: fc.nat({ max: 1_000 }) },
)

test('a cell bears the id of its term while that runs, and never again, whoever has the cell afterwards', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 800, size: 'max' }), (actions) => {
      const table = new ValidityTable()
      const cells: TermCell[] = []
      const running = new Set<number>()
      for (const action of actions) {
        if (action === 'begin') {
          const term = cells.length + 1
          cells.push(table.begin(term))
          running.add(term)
        } else {
          // Also one that has ended, or never was.
          table.end(action)
          running.delete(action)
        }
      }
      for (const [index, { page, index: at }] of cells.entries()) {
        expect(page[at] === index + 1).toBe(running.has(index + 1))
      }
    }),
    { numRuns: 200 },
  )
})

test('terms that come one after another share one cell: memory does not grow', () => {
  const table = new ValidityTable()
  const cells = new Set<string>()
  const pages = new Set<Float64Array>()
  for (let term = 1; term <= 10_000; term += 1) {
    const { page, index } = table.begin(term)
    pages.add(page)
    cells.add(`${index}`)
    table.end(term)
  }
  expect({ pages: pages.size, cells: cells.size }).toEqual({ pages: 1, cells: 1 })
})

test('a page that is full is followed by another, and no two terms share a cell', () => {
  const table = new ValidityTable()
  const cells = Array.from({ length: 1_000 }, (_, index) => table.begin(index + 1))
  expect(cells.every(({ page, index }, at) => page[index] === at + 1)).toBe(true)
  expect(new Set(cells.map(({ page }) => page)).size).toBe(4)
})

test('without a session there is no deadline', () => {
  const table = new ValidityTable()
  expect(table.deadline).toBe(-Infinity)
  table.setDeadline(500.25)
  expect(table.deadline).toBe(500.25)
})
