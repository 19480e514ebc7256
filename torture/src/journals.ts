/** What the nodes have written down so far. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** How much of a journal's end is looked at. */
const TAIL_BYTES = 8_192

/** When the last write that the table accepted came back, on the machine's monotonic clock. */
export function lastAccepted(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return files.reduce((last, file) => Math.max(last, lastAcceptedIn(join(folder, file))), 0)
}

function lastAcceptedIn(file: string): number {
  const found = [...tailOf(file).matchAll(/"kind":"write".*"to":([\d.]+),"accepted":true/g)].at(-1)
  return found === undefined ? 0 : Number(found[1])
}

function tailOf(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES))
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8')
  } finally {
    closeSync(descriptor)
  }
}
