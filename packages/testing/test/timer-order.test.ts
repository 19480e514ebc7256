import fc from 'fast-check'
import { expect, it } from 'vitest'
import { VirtualTime } from '../src/index.js'

const timer = fc.record({
  delay: fc.integer({ min: 0, max: 20 }),
  /** Timers that this one sets when it fires. */
  sets: fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 3 }),
  /** Which earlier timer this one cancels when it fires, counted from the first set. */
  cancels: fc.option(fc.nat({ max: 30 })),
})
type Timer = { readonly delay: number; readonly sets: readonly number[]; readonly cancels: number | null }

it('no timer is lost or out of order, whatever timers set and cancel', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(timer, { maxLength: 20 }),
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 5 }),
      async (timers, ways) => {
        using time = new VirtualTime()
        const fired: string[] = []
        const cancels: (() => void)[] = []
        const set = ({ delay, sets, cancels: victim }: Timer) => {
          const id = cancels.length
          cancels.push(
            time.setTimer(() => {
              fired.push(`${id} at ${time.now()}`)
              for (const nested of sets) set({ delay: nested, sets: [], cancels: null })
              if (victim !== null) cancels[victim]?.()
            }, delay),
          )
        }
        timers.forEach(set)
        for (const way of ways) await time.advance(way)
        expect(fired).toEqual(firedByTheRules(timers, sum(ways)))
      },
    ),
    { numRuns: 300 },
  )
})

/** The rules word by word: of all timers left, the one that is due first, and set first, fires next. */
function firedByTheRules(timers: readonly Timer[], end: number): string[] {
  const all = timers.map((timer, id) => ({ ...timer, id, due: timer.delay, left: true }))
  const fired: string[] = []
  for (;;) {
    const due = all.filter((timer) => timer.left && timer.due <= end)
    const [next] = due.sort((a, b) => a.due - b.due || a.id - b.id)
    if (next === undefined) return fired
    next.left = false
    fired.push(`${next.id} at ${next.due}`)
    for (const delay of next.sets) {
      all.push({ delay, sets: [], cancels: null, id: all.length, due: next.due + delay, left: true })
    }
    const victim = all[next.cancels ?? -1]
    if (victim !== undefined) victim.left = false
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
