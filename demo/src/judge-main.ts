/** A pass of its own over the journals in a folder: reads the files, prints the verdict as JSON, and knows nothing else of the story. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JournalLine } from './journal.js'
import { judge, type NodeRecord } from './judge.js'

function readRecord(file: string): NodeRecord {
  const text = readFileSync(file, 'utf8')
  // A process that was killed may have left half a line.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const lines = whole.split('\n').filter((line) => line !== '')
  const parsed = lines.map((line): JournalLine => JSON.parse(line))
  const begin = parsed.find((line) => line.kind === 'begin')
  return { node: begin?.kind === 'begin' ? begin.node : file, lines: parsed }
}

const folder = process.argv[2] ?? '.'
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
const verdict = judge(files.map((name) => readRecord(join(folder, name))))
process.stdout.write(JSON.stringify(verdict))
