/** The judge must see every law that is broken, and must not count what nobody observed. */
import { expect, test } from 'vitest'
import type { JournalLine } from '../src/journal.js'
import { judge, type NodeRecord } from '../src/judge.js'

const read = (token: number, from: number, valid = true, to = from): JournalLine => ({
  kind: 'read',
  token: String(token),
  valid,
  from,
  to,
})

const write = (token: number, at: number, position?: number): JournalLine => {
  const told = position === undefined ? { accepted: false } : { accepted: true, position }
  return { kind: 'write', token: String(token), from: at, to: at, ...told }
}

const record = (node: string, ...lines: readonly JournalLine[]): NodeRecord => ({ node, lines })

test('terms that follow each other are no overlap, and their gaps are what lies between them', () => {
  const verdict = judge([
    record('a', read(1, 0), read(1, 100), read(1, 110, false)),
    record('b', read(2, 150), read(2, 300)),
    record('a', read(3, 310), read(3, 400)),
  ])
  expect(verdict.faults).toEqual([])
  expect(verdict.overlaps).toBe(0)
  expect(verdict.gapsMs).toEqual([50, 10])
  expect(verdict.terms.map(({ token, node }) => token + node)).toEqual(['1a', '2b', '3a'])
})

test('an instant that two nodes observed as theirs is an overlap, also when neither read just then', () => {
  const verdict = judge([record('a', read(1, 0), read(1, 200)), record('b', read(2, 199), read(2, 400))])
  expect(verdict.overlaps).toBe(1)
  expect(verdict.faults).toEqual(['Two leaders: a with token 1 and b with token 2, both valid for 1.000 ms.'])
})

test('a stopped node that still says "valid" when it wakes overlaps with all who led meanwhile', () => {
  const verdict = judge([
    record('a', read(1, 0), read(1, 5_000)),
    record('b', read(2, 3_000), read(2, 3_500)),
    record('c', read(3, 4_000), read(3, 6_000)),
  ])
  expect(verdict.overlaps).toBe(2)
})

test('a stopped node that says "not valid" when it wakes has observed nothing while it stood still', () => {
  const verdict = judge([
    record('a', read(1, 0), read(1, 100), write(1, 5_000), read(1, 5_001, false)),
    record('b', read(2, 3_000), write(2, 3_001, 1), read(2, 6_000)),
  ])
  expect(verdict.faults).toEqual([])
  expect(verdict.refused).toBe(1)
})

test('a read that was put aside between its stamps counts up to the first of them', () => {
  const put = [
    record('a', read(1, 0), read(1, 100, true, 5_000)),
    record('b', read(2, 3_000), read(2, 6_000)),
  ]
  expect(judge(put).overlaps).toBe(0)
})

test('a token that does not rise is a fault', () => {
  const verdict = judge([
    record('a', read(2, 0), read(2, 10)),
    record('b', read(2, 20)),
    record('c', read(1, 30)),
  ])
  expect(verdict.faults).toEqual([
    'A token did not rise: after 2 (a) came 2 (b).',
    'A token did not rise: after 2 (b) came 1 (c).',
  ])
})

test('a term that is valid again after its end is a fault', () => {
  const verdict = judge([record('a', read(1, 0), read(1, 10, false), read(1, 20))])
  expect(verdict.faults).toEqual(['a: the term with token 1 ended, and was valid again.'])
})

test('a table that accepts a lower token after a higher one is a fault, whatever the clocks say', () => {
  const verdict = judge([
    record('a', read(1, 0), write(1, 1, 1), write(1, 50, 3)),
    record('b', read(2, 100), write(2, 101, 2)),
  ])
  expect(verdict.faults).toEqual(['The table went back: after token 2 (b) it accepted 1 (a).'])
})

test('a table that counts two writes as one is a fault', () => {
  const verdict = judge([record('a', read(1, 0), write(1, 1, 1), write(1, 2, 1))])
  expect(verdict.faults).toEqual(['The table counted two writes as number 1: of a and of a.'])
})

test('a write that is refused though none with a higher token came before is a fault', () => {
  const verdict = judge([record('a', read(1, 0), write(1, 1, 1), write(1, 2))])
  expect(verdict.faults).toEqual([
    'The table refused the write of a with token 1, though it had accepted none higher.',
  ])
})

test('a write with a token that its node never saw valid is a fault', () => {
  const verdict = judge([record('a', write(1, 1, 1))])
  expect(verdict.faults).toEqual(['a: wrote with token 1 without ever having seen it valid.'])
})
