import { expect, test } from 'vitest'
import type { Clock } from '../../src/runtime/clock.js'
import { TimerHeap } from '../../src/runtime/timer-heap.js'

/** A clock that tells of a jump at its next reading, as one that is asked for the first time since the machine slept. */
class JumpyClock implements Clock {
  jumpAtNextReading = false
  private readonly pending = new Set<object>()
  private listener = () => {}

  get timers(): number {
    return this.pending.size
  }

  now(): number {
    if (this.jumpAtNextReading) {
      this.jumpAtNextReading = false
      this.listener()
    }
    return 0
  }

  setTimer(): () => void {
    const timer = {}
    this.pending.add(timer)
    return () => this.pending.delete(timer)
  }

  onJump(listener: () => void): () => void {
    this.listener = listener
    return () => {}
  }
}

test('one native timer is set when the clock tells of a jump while the timer is being set', () => {
  const clock = new JumpyClock()
  const timers = new TimerHeap(clock)
  clock.onJump(() => timers.recheck())
  timers.arm('later', 2_000, () => {})
  clock.jumpAtNextReading = true
  timers.arm('earlier', 1_000, () => {})
  expect(clock.timers).toBe(1)
  timers.clear()
  expect(clock.timers).toBe(0)
})
