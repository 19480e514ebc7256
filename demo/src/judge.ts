/**
 * The judge: says from the journals of the nodes, and from nothing else, whether there was ever more than one leader.
 *
 * What is counted. A node *observes validity* when it reads `term.isValid` and gets `true`: that is all that a program has to go by, and
 * the moment at which it may begin to act. It stamps the clock just before and just after; the clock is the machine's, the same for every
 * process. Between two such reads of one term the term was valid too, since a term that has ended stays ended; that this is so is checked
 * (a true answer after a false one is a fault). So a term counts from the first to the last true answer, every instant between them
 * included, and an overlap is an instant that lies in two terms. No tolerance is taken off: since all stamps are of one clock, the
 * allowance for clock drift is the library's to keep, and the judge gives it none.
 *
 * Why that is honest. A process that is stopped or killed cannot observe anything, so nothing is counted for it while it stands still,
 * though its term object might have gone on saying `true` for a while had anybody asked: nobody did. What counts is the first read after it
 * is woken: if that said `true`, the term would extend over the whole pause, and over the terms of others in it. What a stopped process
 * *can* do is to finish, when it wakes, a write that it had begun before: no lease can prevent that. So the judge also looks at the table:
 * in the order in which the table accepted them, the tokens of the writes must never go back.
 *
 * The two stamps of a read are microseconds apart, unless the process was put aside just between them. Then it is not known when it
 * looked, only that it began at the first stamp, and so the read counts up to its first stamp only.
 */
import type { JournalLine } from './journal.js'

/** One process' journal. */
export interface NodeRecord {
  readonly node: string
  readonly lines: readonly JournalLine[]
}

/** A term as its holder observed it. Times are those of the machine's monotonic clock, in ms. */
export interface ObservedTerm {
  readonly token: string
  readonly node: string
  readonly from: number
  readonly until: number
  readonly accepted: number
  readonly refused: number
}

export interface Verdict {
  /** In the order in which they began. */
  readonly terms: readonly ObservedTerm[]
  /** How often `isValid` was read. */
  readonly reads: number
  /** How many pairs of terms share an instant. */
  readonly overlaps: number
  /** From the end of each term to the beginning of the next, in ms; less than nothing if they overlap. */
  readonly gapsMs: readonly number[]
  readonly accepted: number
  readonly refused: number
  /** Every law that was broken, in words. Empty is good. */
  readonly faults: readonly string[]
}

/** Stamps of one read that are further apart do not tell when it looked. */
const SURE_MS = 2

export function judge(records: readonly NodeRecord[]): Verdict {
  const faults: string[] = []
  const terms = records.flatMap((record) => observedTerms(record, faults)).sort((a, b) => a.from - b.from)
  const overlaps = findOverlaps(terms, faults)
  checkTokens(terms, faults)
  const writes = records.flatMap(({ node, lines }) =>
    lines.flatMap((line) => (line.kind === 'write' ? [{ ...line, node }] : [])),
  )
  checkTable(writes, faults)
  return {
    terms,
    reads: records.flatMap(({ lines }) => lines.filter(({ kind }) => kind === 'read')).length,
    overlaps,
    gapsMs: terms.slice(1).map((term, index) => term.from - (terms[index]?.until ?? term.from)),
    accepted: writes.filter((write) => write.accepted).length,
    refused: writes.filter((write) => !write.accepted).length,
    faults,
  }
}

function observedTerms({ node, lines }: NodeRecord, faults: string[]): ObservedTerm[] {
  const terms = new Map<string, { from: number; until: number; accepted: number; refused: number }>()
  const ended = new Set<string>()
  for (const line of lines) {
    if (line.kind === 'read' && line.valid) {
      if (ended.has(line.token))
        faults.push(`${node}: the term with token ${line.token} ended, and was valid again.`)
      const until = line.to - line.from <= SURE_MS ? line.to : line.from
      const term = terms.get(line.token)
      if (term === undefined) terms.set(line.token, { from: line.from, until, accepted: 0, refused: 0 })
      else term.until = Math.max(term.until, until)
    } else if (line.kind === 'read') {
      ended.add(line.token)
    } else if (line.kind === 'write') {
      const term = terms.get(line.token)
      if (term === undefined)
        faults.push(`${node}: wrote with token ${line.token} without ever having seen it valid.`)
      else if (line.accepted) term.accepted += 1
      else term.refused += 1
    }
  }
  return [...terms].map(([token, term]) => ({ token, node, ...term }))
}

function findOverlaps(terms: readonly ObservedTerm[], faults: string[]): number {
  let overlaps = 0
  terms.forEach((later, index) => {
    for (const earlier of terms.slice(0, index)) {
      if (earlier.until < later.from) continue
      overlaps += 1
      const sharedMs = Math.min(earlier.until, later.until) - later.from
      faults.push(
        `Two leaders: ${earlier.node} with token ${earlier.token} and ${later.node} with token ${later.token}, both valid for ${sharedMs.toFixed(3)} ms.`,
      )
    }
  })
  return overlaps
}

function checkTokens(terms: readonly ObservedTerm[], faults: string[]): void {
  terms.forEach((term, index) => {
    const before = terms[index - 1]
    if (before === undefined || BigInt(before.token) < BigInt(term.token)) return
    faults.push(
      `A token did not rise: after ${before.token} (${before.node}) came ${term.token} (${term.node}).`,
    )
  })
}

type Write = Extract<JournalLine, { readonly kind: 'write' }> & { readonly node: string }

function checkTable(writes: readonly Write[], faults: string[]): void {
  const accepted = writes.filter((write) => write.accepted)
  accepted.sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
  accepted.forEach((write, index) => {
    const before = accepted[index - 1]
    if (before === undefined) return
    if (before.position === write.position) {
      faults.push(
        `The table counted two writes as number ${write.position}: of ${before.node} and of ${write.node}.`,
      )
    }
    if (BigInt(before.token) <= BigInt(write.token)) return
    faults.push(
      `The table went back: after token ${before.token} (${before.node}) it accepted ${write.token} (${write.node}).`,
    )
  })
  const highest = accepted.reduce((most, { token }) => (BigInt(token) > most ? BigInt(token) : most), 0n)
  for (const { node, token } of writes.filter((write) => !write.accepted && BigInt(write.token) >= highest)) {
    faults.push(
      `The table refused the write of ${node} with token ${token}, though it had accepted none higher.`,
    )
  }
}
