/** Writes that overlap: the check of the token and the change must be one step. */

import { within } from '../real-time.js'
import { show } from '../rules.js'
import { all } from '../several.js'
import type { FencedResource } from './options.js'
import { mustFence, refuses } from './rules.js'

const writers = 12
const advice =
  'let the storage decide and change in one statement, script or transaction, or under one lock; never read, decide, then write'

/** Overlapping writes on several handles, in many orders; what stands at the end must be of the largest token. */
export async function overlappingWrites(handles: readonly FencedResource[], rounds: number): Promise<void> {
  let last = 0n
  for (let round = 0; round < rounds; round++) {
    const tokens = inOrderOf(round, writers).map((n) => last + BigInt(n) + 1n)
    const answers = await all(
      tokens.map(async (token, i) => {
        const handle = handles[i % handles.length] ?? handles[0]
        return { token, accepted: (await handle?.write(token, `by ${token}`)) === true }
      }),
    )
    last += BigInt(writers)
    const order = `writes with tokens ${tokens.join(', ')} at once`
    mustFence(
      answers.some(({ token, accepted }) => accepted && token === last),
      'larger',
      `of ${order}, that with the largest was refused`,
      'refuse a token only after a larger one was accepted; repeat a write that lost a race instead of refusing it',
    )
    for (const handle of handles) {
      const seen = await handle.read()
      mustFence(
        seen === `by ${last}`,
        'atomic',
        `after ${order}, the value was ${show(seen)} instead of ${show(`by ${last}`)}`,
        advice,
      )
      await refuses(handle, last - 1n, 'atomic', `after ${order}`)
    }
  }
}

/** Two writers take turns to be the older one: it starts first, and must not finish over the newer one. */
export async function staleWriterOvertaken(
  [one, other]: readonly [FencedResource, FencedResource],
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const [stale, fresh] = [BigInt(2 * round + 1), BigInt(2 * round + 2)]
    const [older, newer] = round % 2 === 0 ? [one, other] : [other, one]
    const delayed = older.write(stale, `by ${stale}`)
    // A different number of turns each time, so that the newer write falls into each gap of the older.
    for (let turn = 0; turn < round % 8; turn++) await Promise.resolve()
    const accepted = await all([delayed, newer.write(fresh, `by ${fresh}`)])
    const seen = await one.read()
    mustFence(
      accepted[1] === true && seen === `by ${fresh}`,
      'atomic',
      `writes with tokens ${stale} and ${fresh} at once were answered ${show(accepted)}, and the value was ${show(seen)}`,
      advice,
    )
    await refuses(other, stale, 'atomic', `after ${fresh}, which overlapped with a write with ${stale}`)
  }
}

/** A whole write with a larger token, in the gap that a paused write leaves. */
export async function writeIntoTheGap(
  create: (pause: () => Promise<void>) => FencedResource | Promise<FencedResource>,
  pauseMs: number,
  made: (resource: FencedResource) => void,
): Promise<void> {
  let resume = () => {}
  let reached = () => {}
  const gap = new Promise<void>((resolve) => {
    reached = resolve
  })
  const released = new Promise<void>((resolve) => {
    resume = resolve
  })
  let paused = false
  const resource = await create(async () => {
    if (paused) return
    paused = true
    reached()
    await released
  })
  made(resource)
  const stale = resource.write(1n, 'by 1')
  try {
    await Promise.race([gap, stale])
    const fresh = resource.write(2n, 'by 2')
    // A resource that locks lets the newer write wait until the older one is done.
    await within(pauseMs, fresh, () => new Error('it waits')).catch(() => {})
    resume()
    const answers = await all([stale, fresh])
    const seen = await resource.read()
    mustFence(
      answers[1] === true && seen === 'by 2',
      'atomic',
      `a write with token 2 came between the check and the change of a write with token 1; they were answered ${show(answers)}, ` +
        `and the value was ${show(seen)}`,
      advice,
    )
    await refuses(resource, 1n, 'atomic', 'after 2')
  } finally {
    resume()
  }
}

/** The numbers below `count` in an order that differs from round to round, the same in each run. */
function inOrderOf(round: number, count: number): number[] {
  const numbers = Array.from({ length: count }, (_, i) => i)
  if (round === 0) return numbers.reverse()
  let state = round
  for (let i = count - 1; i > 0; i--) {
    // Lehmer's generator: order is all that is wanted of it.
    state = (state * 48_271) % 2_147_483_647
    const j = state % (i + 1)
    const [a, b] = [numbers[i] ?? 0, numbers[j] ?? 0]
    numbers[i] = b
    numbers[j] = a
  }
  return numbers
}
