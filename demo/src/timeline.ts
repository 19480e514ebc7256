/** The story at one glance: a row for each node, with the time going to the right. */
import type { StoryEvent } from './event.js'
import type { Paint } from './paint.js'

const LEADS = '█'
const COMPETES = '·'
const STANDS_STILL = '░'
const KILLED = '✕'

export function timeline(events: readonly StoryEvent[], width: number, paint: Paint): string[] {
  const names = [...new Set(events.flatMap((event) => (event.kind === 'started' ? [event.node] : [])))].sort()
  const lastMs = Math.max(1, ...events.map((event) => event.atMs))
  const cells = width - 6
  const cellMs = lastMs / cells
  const rows = names.map((name) => paint.node(name, `${name}  ${row(name, events, cells, cellMs).trimEnd()}`))
  return [...rows, `   ${ruler(cells, cellMs)}`, '', legend()]
}

function row(name: string, events: readonly StoryEvent[], cells: number, cellMs: number): string {
  const drawn: string[] = Array.from({ length: cells }, () => ' ')
  const cellOf = (ms: number) => Math.min(cells - 1, Math.max(0, Math.floor(ms / cellMs)))
  const fill = (fromMs: number, untilMs: number, mark: string) =>
    drawn.fill(mark, cellOf(fromMs), cellOf(untilMs) + 1)
  const own = events.filter((event) => 'node' in event && event.node === name)
  const next = (from: StoryEvent, ...kinds: readonly StoryEvent['kind'][]) =>
    own.find((event) => event.atMs >= from.atMs && kinds.includes(event.kind))?.atMs ?? cells * cellMs

  for (const event of own)
    if (event.kind === 'started') fill(event.atMs, next(event, 'killed', 'left'), COMPETES)
  for (const event of own)
    if (event.kind === 'stopped') fill(event.atMs, next(event, 'continued'), STANDS_STILL)
  for (const event of own) if (event.kind === 'term') fill(event.fromMs, event.untilMs, LEADS)
  for (const event of own) if (event.kind === 'killed') fill(event.atMs, event.atMs, KILLED)
  return drawn.join('')
}

/** Seconds, at every ten cells or so. */
function ruler(cells: number, cellMs: number): string {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600]
  const stepS = steps.find((step) => (step * 1_000) / cellMs >= 9) ?? 600
  let text = ''
  for (let second = 0; ; second += stepS) {
    const cell = Math.round((second * 1_000) / cellMs)
    const label = second === 0 ? '0 s' : String(second)
    if (cell + label.length > cells) return text
    text = text.padEnd(cell) + label
  }
}

function legend(): string {
  return `${LEADS} leads   ${COMPETES} competes   ${STANDS_STILL} stopped   ${KILLED} killed`
}
