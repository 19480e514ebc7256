/**
 * The rules that the suites test, in the words in which a failure tells of them. B1 to B7 are those of `LeaseBackend` in
 * `@simba/core`; the others stand there with the method that they concern.
 */
import { AssertionError } from 'node:assert'

export const rules = {
  B1: 'a session that is not renewed within its lease duration expires: soon after that, and never before the remaining time that it was told has passed',
  B2: 'an expired session is never revived: keepAlive, acquire and join answer "expired" from then on',
  B3: 'a lease belongs to its session only while that session lives',
  B4: "a lease's token is greater than zero, rises strictly with each new term of that name, and is never reset",
  B5: 'release frees a lease only if the session and the token both match; otherwise it changes nothing',
  B6: 'a member belongs to a group only while its session lives',
  B7: 'an acquire by the session that already owns the lease is granted again, with the token that it already has',
  'session id': 'openSession gives each session an id of its own, which is never used twice',
  remaining:
    'a remaining time is above 0, at most the lease duration asked for, and no longer than the session will in fact live',
  renewal: 'keepAlive renews the session for a whole lease duration, from that moment on',
  'one owner':
    'acquire grants a lease if it is free or its session has expired, and answers "held" as long as another live session owns it',
  owned: 'keepAlive lists every lease that the session owns, with its token, and nothing else',
  close:
    'closeSession frees the leases and memberships of that session at once, ends it for ever, is idempotent, and touches no other session',
  release: 'release makes the lease free at once, and is idempotent',
  groups:
    'join makes the session a member, leave ends that, both are idempotent, and members lists each live member once',
  names:
    'names are told apart by every character of their whole length, case included; leases and groups have separate names',
  metadata: 'a session opens with any metadata of up to 1024 characters, and keeps it unchanged',
  calls: 'every call settles within the time that it was given, also when its signal has aborted',
  'backend close': 'close is idempotent, and leaves alone what other backend objects use',
  hints: 'a hint comes for each topic watched, and none once it is no longer watched',
  inspect: 'inspect lists the live sessions, the leases with their holders and tokens, and the groups',
  capabilities: 'a backend has exactly the optional methods that its capabilities declare',
} as const

export type Rule = keyof typeof rules

/** @throws AssertionError that names the rule, tells what was seen, and what to do. */
export function broken(rule: Rule, seen: string, advice: string): never {
  throw new AssertionError({
    message: `Rule ${/^B\d$/.test(rule) ? rule : `"${rule}"`} is broken: ${rules[rule]}.\nSeen: ${seen}.\nTo do: ${advice}.`,
    stackStartFn: broken,
  })
}

/** @throws AssertionError that names the rule unless the condition holds. */
export function must(condition: boolean, rule: Rule, seen: string, advice: string): asserts condition {
  if (!condition) broken(rule, seen, advice)
}

/** Text for messages; bigint is written as in source. */
export function show(value: unknown): string {
  return typeof value === 'bigint'
    ? `${value}n`
    : (JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)) ??
        String(value))
}
