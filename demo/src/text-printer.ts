/** The story for people: one line for each thing that happens, with its time and the node that it happens to. */
import type { StoryEvent, Summary } from './event.js'
import type { Printer } from './narrator.js'
import type { Paint } from './paint.js'
import { heading, sentence } from './sentence.js'
import { timeline } from './timeline.js'
import { clockTime, duration, plural } from './words.js'

const WIDTH = 96

export function textPrinter(write: (text: string) => void, paint: Paint): Printer {
  const line = (text = '') => write(`${text}\n`)
  return {
    event(event) {
      if (event.kind === 'start') {
        for (const text of opening(event)) line(text)
        return
      }
      if (event.kind === 'act') {
        const title = heading(event)
        line()
        line(paint.heading(`── ${title} ${'─'.repeat(Math.max(0, WIDTH - title.length - 4))}`))
        return
      }
      const text = sentence(event, paint)
      if (text === undefined) return
      const node = 'node' in event ? paint.node(event.node) : ' '
      line(`${paint.dim(clockTime(event.atMs))}  ${node}  ${text}`)
    },
    summary(summary, events) {
      line()
      for (const text of timeline(events, WIDTH, paint)) line(text === '' ? '' : `  ${text}`)
      line()
      for (const text of summaryLines(summary, events, paint)) line(text === '' ? '' : `  ${text}`)
      line()
    },
  }
}

function opening({
  nodes,
  place,
  leaseMs,
  rounds,
  folder,
}: Extract<StoryEvent, { kind: 'start' }>): string[] {
  return [
    `Simba: ${nodes} processes, ${place}, one leader at a time.`,
    `A lease lasts ${duration(leaseMs)}; four acts, ${rounds === 1 ? 'once' : rounds === 2 ? 'twice' : plural(rounds, 'time')}. Files, until the end: ${folder}`,
  ]
}

function summaryLines(summary: Summary, events: readonly StoryEvent[], paint: Paint): string[] {
  const { terms, tokens, overlaps, gapsMs, acceptedWrites, refusedWrites } = summary
  const judged = events.find((event) => event.kind === 'judged')
  const looks = judged?.kind === 'judged' ? ` in ${judged.reads.toLocaleString('en')} looks at isValid` : ''
  const faults = events.filter((event) => event.kind === 'fault')
  const verdict =
    faults.length === 0 ? paint.good('All as it should be.') : paint.bad(`${plural(faults.length, 'fault')}.`)
  return [
    `overlaps   ${overlaps === 0 ? paint.good('0') : paint.bad(String(overlaps))}${looks}: ${overlaps === 0 ? 'never two leaders at one time' : 'two leaders at one time'}`,
    `terms      ${terms}, with the tokens ${tokens.join(' ')}`,
    `gaps       ${gapsMs.map((gap) => duration(gap)).join(', ')} without a leader`,
    `writes     ${acceptedWrites} accepted, ${refusedWrites} refused by the fenced table`,
    '',
    verdict,
  ]
}
