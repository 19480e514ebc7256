import { AssertionError } from 'node:assert'
import { show } from '../rules.js'
import type { FencedResource } from './options.js'

/** The rules of a fenced resource, in the words in which a failure tells of them. */
export const fencingRules = {
  first: 'the first write is accepted, whatever its token',
  larger: 'a write with a larger token than all before is accepted',
  smaller: 'a write with a smaller token than the largest accepted is refused, and changes nothing',
  equal:
    'a write with the largest token accepted so far is accepted again: retries within a term carry its token',
  numeric: 'tokens are compared as whole numbers, exactly, also above 2^53',
  atomic: 'the check of the token and the change of the value are one step',
} as const

export type FencingRule = keyof typeof fencingRules

/** @throws AssertionError that names the rule unless the condition holds. */
export function mustFence(
  condition: boolean,
  rule: FencingRule,
  seen: string,
  advice: string,
): asserts condition {
  if (condition) return
  throw new AssertionError({
    message: `Rule "${rule}" of fencing is broken: ${fencingRules[rule]}.\nSeen: ${seen}.\nTo do: ${advice}.`,
    stackStartFn: mustFence,
  })
}

/** Writes, and fails unless the write is accepted and stands. */
export async function accepts(
  resource: FencedResource,
  token: bigint,
  value: string,
  rule: FencingRule,
  when: string,
): Promise<void> {
  const answer = await resource.write(token, value)
  mustFence(
    answer === true,
    rule,
    `a write with token ${token} ${when} was answered ${show(answer)}`,
    'accept a token that is not smaller than the largest accepted; where the driver counts rows, let it count those that matched ' +
      'rather than those that changed',
  )
  const seen = await resource.read()
  mustFence(
    seen === value,
    rule,
    `after an accepted write of ${show(value)} with token ${token} ${when}, read gave ${show(seen)}`,
    'store the value of every accepted write',
  )
}

/** Writes, and fails unless the write is refused and the value stays. */
export async function refuses(
  resource: FencedResource,
  token: bigint,
  rule: FencingRule,
  when: string,
): Promise<void> {
  const before = await resource.read()
  const answer = await resource.write(token, `stale ${token}`)
  mustFence(
    answer === false,
    rule,
    `a write with token ${token} ${when} was answered ${show(answer)}`,
    'refuse a token smaller than the largest accepted: `update … where token <= given`, and answer whether a row matched',
  )
  const after = await resource.read()
  mustFence(
    after === before,
    rule,
    `a refused write with token ${token} ${when} changed the value from ${show(before)} to ${show(after)}`,
    'check the token before anything changes',
  )
}
