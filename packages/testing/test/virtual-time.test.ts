import { describe, expect, it } from 'vitest'
import { VirtualTime } from '../src/index.js'

describe('virtual time', () => {
  it('goes through a year with a timer every five seconds in seconds', async () => {
    using time = new VirtualTime()
    let fired = 0
    const beat = () => {
      fired++
      time.setTimer(beat, 5_000)
    }
    time.setTimer(beat, 5_000)
    const t = performance.now()
    await time.advance(365 * 86_400_000)
    console.log('year', performance.now() - t)
    expect(fired).toBe((365 * 86_400) / 5)
  }, 30_000)
})
