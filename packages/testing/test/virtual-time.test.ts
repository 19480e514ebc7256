import { isSimbaError } from '@simba/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { VirtualTime } from '../src/index.js'

afterEach(() => {
  vi.useRealTimers()
})

describe('timers', () => {
  it('fire in the order of their due times, and of their setting where those are equal', async () => {
    using time = new VirtualTime()
    const fired: string[] = []
    time.setTimer(() => fired.push(`c at ${time.now()}`), 20)
    time.setTimer(() => fired.push(`a at ${time.now()}`), 10)
    time.setTimer(() => fired.push(`b at ${time.now()}`), 10)
    await time.advance(20)
    expect(fired).toEqual(['a at 10', 'b at 10', 'c at 20'])
  })

  it('fire on the way when a timer of the same way set them, and not beyond its end', async () => {
    using time = new VirtualTime()
    const fired: number[] = []
    const every = (ms: number) => {
      time.setTimer(() => {
        fired.push(time.now())
        every(ms)
      }, ms)
    }
    every(30)
    await time.advance(100)
    expect(fired).toEqual([30, 60, 90])
    expect(time.now()).toBe(100)
  })

  it('do not fire once cancelled, not even by a timer of the same instant; a late cancel is harmless', async () => {
    using time = new VirtualTime()
    const fired: string[] = []
    const cancelFirst = time.setTimer(() => {
      fired.push('first')
      cancelSecond()
    }, 10)
    const cancelSecond = time.setTimer(() => fired.push('second'), 10)
    time.setTimer(() => fired.push('third'), 10)
    await time.advance(10)
    cancelFirst()
    cancelSecond()
    expect(fired).toEqual(['first', 'third'])
  })

  it('that throw do not keep the others from firing, and make the movement reject', async () => {
    using time = new VirtualTime()
    const fired: number[] = []
    const broken = new Error('broken')
    time.setTimer(() => {
      throw broken
    }, 10)
    time.setTimer(() => fired.push(time.now()), 20)
    await expect(time.advance(20)).rejects.toBe(broken)
    expect(fired).toEqual([20])
    for (const delay of [1, 2]) {
      time.setTimer(() => {
        throw broken
      }, delay)
    }
    await expect(time.advance(5)).rejects.toMatchObject({ errors: [broken, broken] })
    expect(time.now()).toBe(25)
  })

  it('without delay, set again and again, end in a message instead of an endless loop', async () => {
    using time = new VirtualTime()
    const again = () => {
      time.setTimer(again, 0)
    }
    again()
    await expect(time.advance(10)).rejects.toThrow(/timers fired at 0 ms.*without delay/)
  })

  it('refuse a time that is no number', () => {
    using time = new VirtualTime()
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => time.setTimer(() => {}, wrong)).toThrow(/delayMs/)
      expect(() => time.advance(wrong)).toThrow(/finite/)
    }
    expect(() => time.advance(-1)).toThrow(expect.toSatisfy((e) => isSimbaError(e, 'SIMBA_CONFIG')))
    expect(() => time.jump(-1)).toThrow(/forwards/)
    expect(() => time.sleep(-1)).toThrow(/forwards/)
  })
})

describe('moving time', () => {
  it.each([
    ['promises', async () => await null],
    ['ticks', () => new Promise<void>((resolve) => process.nextTick(resolve))],
    ['immediates', () => new Promise<void>((resolve) => setImmediate(resolve))],
    [
      'promises and ticks in turn',
      async () => {
        await null
        await new Promise<void>((resolve) => process.nextTick(resolve))
      },
    ],
  ])('lets a long chain of %s settle between two timers', async (_, wait) => {
    using time = new VirtualTime()
    const seen: number[] = []
    // Many timers, since a long way is the one on which steps share a turn of the event loop.
    for (let instant = 1; instant <= 100; instant++) {
      time.setTimer(async () => {
        for (let hop = 0; hop < 20; hop++) await wait()
        seen.push(time.now() - instant)
      }, instant)
    }
    await time.advance(101)
    expect(seen).toEqual(new Array(100).fill(0))
  })

  it('fires what asynchronous code sets on the way', async () => {
    using time = new VirtualTime()
    const seen: number[] = []
    const worker = async () => {
      for (let round = 0; round < 4; round++) {
        await time.sleep(10)
        seen.push(time.now())
      }
    }
    const done = worker()
    await time.advance(35)
    expect(seen).toEqual([10, 20, 30])
    await time.advance(5)
    await done
  })

  it('runs overlapping movements one after another, also those begun by a timer', async () => {
    using time = new VirtualTime()
    let inner: Promise<void> | undefined
    time.setTimer(() => {
      inner = time.advance(100)
    }, 5)
    await Promise.all([time.advance(10), time.advance(10)])
    await inner
    expect(time.now()).toBe(120)
  })

  it('settles pending work without moving, and fires what is due', async () => {
    using time = new VirtualTime({ startAt: 7 })
    let settled = false
    time.setTimer(() => {
      void Promise.resolve().then(() => {
        settled = true
      })
    }, 0)
    await time.settle()
    expect(settled).toBe(true)
    expect(time.now()).toBe(7)
  })

  it('goes through a year with a timer every five seconds in seconds', { timeout: 60_000 }, async () => {
    using time = new VirtualTime()
    let fired = 0
    const beat = () => {
      fired++
      time.setTimer(beat, 5_000)
    }
    time.setTimer(beat, 5_000)
    const startedAt = performance.now()
    await time.advance(365 * 86_400_000)
    expect(fired).toBe((365 * 86_400) / 5)
    // About 5 s on a slow machine; the bound leaves room for a busy one.
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })

  it("works under a test runner's fake timers", async () => {
    vi.useFakeTimers()
    using time = new VirtualTime()
    const slept = time.sleep(10)
    await time.advance(10)
    await slept
  })

  it('moves the wall clock along', async () => {
    using time = new VirtualTime({ startAt: 500, wallStartAt: Date.UTC(2024, 1, 29) })
    await time.advance(86_400_000)
    expect(new Date(time.wallNow()).toISOString()).toBe('2024-03-01T00:00:00.000Z')
  })
})

describe('until', () => {
  it('moves no further than to where the promise settles, and gives its value', async () => {
    using time = new VirtualTime()
    const value = time.sleep(10).then(() => 'value')
    time.setTimer(() => expect.unreachable('beyond the promise'), 11)
    await expect(time.until(value, { within: 100 })).resolves.toBe('value')
    expect(time.now()).toBe(10)
  })

  it('does not move for a promise that is settled, and rejects with its reason', async () => {
    using time = new VirtualTime()
    const reason = new Error('reason')
    await expect(time.until(Promise.reject(reason), { within: 100 })).rejects.toBe(reason)
    expect(time.now()).toBe(0)
  })

  it('says how far time went and what waits if the promise stays pending', async () => {
    using time = new VirtualTime()
    void time.sleep(60)
    await time.advance(10)
    time.setTimer(() => {}, 90)
    const forever = new Promise(() => {})
    await expect(time.until(forever, { within: 45 })).rejects.toThrow(
      /after 45 ms of virtual time, from 10 to 55 ms\. Waiting: sleep\(60\) until 60 ms\. Timers due: 60 ms \(set at 0 ms\), 100 ms \(set at 10 ms\)\./,
    )
    await time.advance(100)
    await expect(time.until(forever, { within: 1 })).rejects.toThrow(/No timer waits\./)
  })
})

describe('jump', () => {
  it('moves now at once and tells listeners, while timers fire with the next movement', async () => {
    using time = new VirtualTime()
    const seen: string[] = []
    const listener = () => seen.push(`jump to ${time.now()}`)
    const off = time.onJump(listener)
    time.onJump(listener)
    time.setTimer(() => seen.push(`b at ${time.now()}`), 20)
    time.setTimer(() => seen.push(`a at ${time.now()}`), 10)
    time.jump(1000)
    off()
    off()
    time.jump(1)
    expect(seen).toEqual(['jump to 1000', 'jump to 1000', 'jump to 1001'])
    await time.settle()
    expect(seen.slice(3)).toEqual(['a at 1001', 'b at 1001'])
  })

  it('never goes back, also where it happens on the way of a movement', async () => {
    using time = new VirtualTime()
    time.setTimer(() => time.jump(1000), 10)
    await time.advance(20)
    expect(time.now()).toBe(1010)
  })

  it('can leave timers unaware of it, as the sleep of a Linux machine does', async () => {
    using time = new VirtualTime()
    const fired: number[] = []
    time.setTimer(() => fired.push(time.now()), 10)
    await time.advance(4)
    time.jump(1000, { timers: 'delayed' })
    await time.advance(5)
    expect(fired).toEqual([])
    await time.advance(1)
    expect(fired).toEqual([1010])
  })
})

describe('sleep', () => {
  it('rejects with the reason of its signal, before and during the wait, and leaves no timer', async () => {
    using time = new VirtualTime()
    const controller = new AbortController()
    const reason = new Error('enough')
    const slept = time.sleep(10, { signal: controller.signal })
    controller.abort(reason)
    await expect(slept).rejects.toBe(reason)
    await expect(time.sleep(10, { signal: controller.signal })).rejects.toBe(reason)
    await expect(time.until(new Promise(() => {}), { within: 1 })).rejects.toThrow(/No timer waits/)
  })

  it('leaves no listener on its signal', async () => {
    using time = new VirtualTime()
    const { signal } = new AbortController()
    const remove = vi.spyOn(signal, 'removeEventListener')
    const add = vi.spyOn(signal, 'addEventListener')
    const slept = time.sleep(10, { signal })
    await time.advance(10)
    await slept
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(
      add.mock.calls.map(([, listener]) => listener),
    )
  })
})
