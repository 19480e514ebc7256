import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualTime } from '../src/index.js'

describe('a clock of its own', () => {
  it('starts where virtual time is, ahead by its offset, and counts at its rate', async () => {
    using time = new VirtualTime({ startAt: 1000 })
    const fast = time.clock({ rate: 1.01 })
    const ahead = time.clock({ rate: 0.5, offset: 60_000 })
    expect([fast.now(), ahead.now()]).toEqual([1000, 61_000])
    await time.advance(10_000)
    expect([fast.now(), ahead.now()]).toEqual([11_100, 66_000])
  })

  it('fires its timers by its own count: a fast clock before a slow one', async () => {
    using time = new VirtualTime()
    const fired: string[] = []
    time.clock({ rate: 0.5 }).setTimer(() => fired.push(`slow at ${time.now()}`), 100)
    time.clock({ rate: 2 }).setTimer(() => fired.push(`fast at ${time.now()}`), 100)
    await time.advance(1000)
    expect(fired).toEqual(['fast at 50', 'slow at 200'])
  })

  it('never fires a timer before its time, whatever the rounding', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        fc.double({ min: -1e9, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1e5, noNaN: true }),
        async (rate, offset, startAt, delay) => {
          using time = new VirtualTime({ startAt })
          const clock = time.clock({ rate, offset })
          await time.advance(startAt / 3)
          const due = clock.now() + delay
          const fired = new Promise<number>((resolve) => clock.setTimer(() => resolve(clock.now()), delay))
          const firedAt = await time.until(fired, { within: 1e6 })
          expect(firedAt).toBeGreaterThanOrEqual(due)
          expect(firedAt - due).toBeLessThan(1e-3)
        },
      ),
    )
  })

  it('hears of jumps of virtual time, and of its own, which its timers and other clocks do not see', async () => {
    using time = new VirtualTime()
    const [one, other] = [time.clock(), time.clock()]
    const heard: string[] = []
    const fired: number[] = []
    const off = one.onJump(() => heard.push(`one at ${one.now()}`))
    other.onJump(() => heard.push(`other at ${other.now()}`))
    one.setTimer(() => fired.push(time.now()), 100)
    one.jump(5000)
    expect(heard).toEqual(['one at 5000'])
    await time.advance(100)
    expect(fired).toEqual([100])
    time.jump(10)
    expect(heard.slice(1)).toEqual(['one at 5110', 'other at 110'])
    off()
    time.jump(1)
    one.jump(1)
    expect(heard.slice(3)).toEqual(['other at 111'])
  })

  it('holds its timers while paused, and fires them in their order when it goes on', async () => {
    using time = new VirtualTime()
    const clock = time.clock()
    const fired: string[] = []
    clock.setTimer(() => fired.push(`b at ${time.now()}`), 20)
    clock.setTimer(() => fired.push(`a at ${time.now()}`), 10)
    const cancelWhilePaused = clock.setTimer(() => expect.unreachable('cancelled while paused'), 15)
    const cancelAfterwards = clock.setTimer(() => expect.unreachable('cancelled once resumed'), 15)
    clock.setTimer(() => fired.push(`c at ${time.now()}`), 200)
    clock.pause()
    await time.advance(100)
    expect(fired).toEqual([])
    expect(clock.now()).toBe(100)
    cancelWhilePaused()
    clock.resume()
    cancelAfterwards()
    await time.advance(100)
    expect(fired).toEqual(['a at 100', 'b at 100', 'c at 200'])
  })

  it('refuses a rate or offset that no clock has', () => {
    using time = new VirtualTime()
    for (const rate of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => time.clock({ rate })).toThrow(/rate is/)
    }
    expect(() => time.clock({ offset: Number.NaN })).toThrow(/offset is/)
    expect(() => time.clock().jump(Number.NaN)).toThrow(/jump/)
  })
})
