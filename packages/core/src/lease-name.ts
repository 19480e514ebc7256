/** Names that mean the same to every backend: as a key, a path and a column's value. */
import { LeaseNameError } from './errors.js'

const MAX_LENGTH = 128
const ALLOWED = /^[A-Za-z0-9._:-]+$/

/**
 * Returns the name, with the namespace before it if there is one.
 *
 * @throws LeaseNameError unless it has 1 to 128 characters of `A-Z a-z 0-9 . _ : -`, and is not `.` or `..`.
 */
export function checkName(what: 'lease' | 'group', name: string, namespace?: string): string {
  if (typeof name !== 'string')
    throw new LeaseNameError(`The ${what} name must be a text; given was ${String(name)}.`)
  const full = namespace === undefined ? name : `${namespace}:${name}`
  const problem = problemOf(name, full)
  if (problem !== undefined) {
    throw new LeaseNameError(
      `The ${what} name ${JSON.stringify(name)} ${problem}. A name has 1 to ${MAX_LENGTH} characters of A-Z a-z 0-9 . _ : - and is not "." or "..".`,
    )
  }
  return full
}

/** The lease of one partition: part of what all nodes share, in whatever language they are written. */
export function partitionName(group: string, partition: number): string {
  return `${group}.${partition}`
}

/** Checks that every partition of a group has a lease name. */
export function checkPartitions(group: string, partitions: number): void {
  const last = partitionName(group, partitions - 1)
  if (last.length > MAX_LENGTH) {
    throw new LeaseNameError(
      `The group "${group}" with ${partitions} partitions would need lease names of ${last.length} characters ("${last}"); at most ${MAX_LENGTH} are allowed. Give the group a shorter name.`,
    )
  }
}

function problemOf(name: string, full: string): string | undefined {
  if (name === '') return 'is empty'
  if (full.length > MAX_LENGTH) {
    return full === name
      ? `has ${full.length} characters`
      : `has ${full.length} characters with its namespace ("${full}")`
  }
  if (!ALLOWED.test(full)) {
    const [bad] = /[^A-Za-z0-9._:-]/u.exec(full) ?? ['']
    return `contains ${JSON.stringify(bad)}`
  }
  return full === '.' || full === '..' ? 'means a folder' : undefined
}
