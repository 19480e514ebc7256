/**
 * What a node writes down about itself, line by line, as it happens. Each line is written before the node goes on, so a `kill -9` loses
 * nothing but a line that was not finished. The judge reads these files and nothing else.
 */
import { appendFileSync } from 'node:fs'

/** Times are those of the machine's monotonic clock, in ms. Tokens are decimal: JSON has no bigint. */
export type JournalLine =
  | { readonly kind: 'begin'; readonly node: string; readonly pid: number; readonly at: number }
  /** A read of `term.isValid`, which looked at the clock at some moment from `from` to `to`. */
  | {
      readonly kind: 'read'
      readonly token: string
      readonly valid: boolean
      readonly from: number
      readonly to: number
    }
  /** A write to the fenced table, and what the table said. */
  | {
      readonly kind: 'write'
      readonly token: string
      readonly from: number
      readonly to: number
      readonly accepted: boolean
      /** The table's own count of accepted writes. */
      readonly position?: number
    }
  /** Something that a person may want to know who reads the file. */
  | { readonly kind: 'note'; readonly at: number; readonly text: string }

export class Journal {
  constructor(private readonly file: string) {}

  append(line: JournalLine): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`)
  }
}
