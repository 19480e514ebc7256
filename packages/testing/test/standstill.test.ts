import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { VirtualTime } from '../src/index.js'

/** Short, but long enough for a busy machine: the watch is on real time. */
const watchdogMs = 60

let warnings: string[] = []
const unhandled: unknown[] = []
const onUnhandled = (reason: unknown) => unhandled.push(reason)

beforeEach(() => {
  warnings = []
  process.on('unhandledRejection', onUnhandled)
})

afterEach(() => {
  process.off('unhandledRejection', onUnhandled)
  expect(unhandled).toEqual([])
})

function watched(): VirtualTime {
  return new VirtualTime({ watchdogMs, warn: (message) => warnings.push(message) })
}

/** Real time, in which the watch of another time would have reported for sure. */
async function longEnoughForAReport(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 4 * watchdogMs))
}

describe('a wait on time that nobody moves', () => {
  it('rejects with what waits, until when, and what to call', async () => {
    using time = watched()
    await time.advance(250)
    await expect(time.sleep(5000)).rejects.toThrow(
      /stands at 250 ms, and nobody has moved it for 60 ms of real time\. Waiting: sleep\(5000\) until 5250 ms\..*Call advance\(ms\)/,
    )
    expect(warnings).toEqual([])
  })

  it('leaves nothing behind, so that time can go on', async () => {
    using time = watched()
    await expect(time.sleep(10)).rejects.toThrow(/stands/)
    await expect(time.until(new Promise(() => {}), { within: 20 })).rejects.toThrow(/No timer waits/)
  })

  it('is warned of once per standstill where only timers wait, which nobody awaits', async () => {
    using time = watched()
    time.setTimer(() => {}, 5000)
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 5000 })
    expect(warnings[0]).toMatch(/stands at 0 ms.*Timers due: 5000 ms \(set at 0 ms\)/)
    time.setTimer(() => {}, 6000)
    await longEnoughForAReport()
    expect(warnings).toHaveLength(1)
    await time.advance(1)
    await vi.waitFor(() => expect(warnings).toHaveLength(2), { timeout: 5000 })
  })

  it('still rejects after a warning', async () => {
    using time = watched()
    time.setTimer(() => {}, 5000)
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 5000 })
    await expect(time.sleep(10)).rejects.toThrow(/stands/)
  })
})

describe('the watch does not misfire', () => {
  it('while somebody keeps moving time', async () => {
    using time = watched()
    const slept = time.sleep(1e9)
    const end = performance.now() + 5 * watchdogMs
    while (performance.now() < end) await time.advance(1)
    expect(warnings).toEqual([])
    await time.advance(1e9)
    await slept
  })

  it('during one movement that takes long', async () => {
    using time = watched()
    const slept = time.sleep(1e9)
    const end = performance.now() + 5 * watchdogMs
    const beatsLong = new Promise<void>((resolve) => {
      const beat = () => {
        if (performance.now() < end) time.setTimer(beat, 1)
        else resolve()
      }
      beat()
    })
    await time.until(beatsLong, { within: 1e9 })
    expect(warnings).toEqual([])
    await time.advance(1e9)
    await slept
  })

  it('for a process that was held up itself', async () => {
    using time = watched()
    const slept = time.sleep(10)
    const end = performance.now() + 5 * watchdogMs
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 0))
    await time.advance(10)
    await slept
  })

  it('where nothing waits', async () => {
    using time = watched()
    await time.sleep(0).catch(() => {})
    warnings = []
    time.setTimer(() => {}, 10)()
    await longEnoughForAReport()
    expect(warnings).toEqual([])
  })
})

describe('a finished test that leaves waits behind', () => {
  it('is not failed by the loop of a worker that ran while time was moved', async () => {
    using time = watched()
    const worker = async () => {
      for (;;) await time.sleep(10)
    }
    void worker()
    await time.advance(100)
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 5000 })
    await longEnoughForAReport()
    expect(unhandled).toEqual([])
  })

  it('is not failed by a sleep that nobody awaits', async () => {
    using time = watched()
    void time.sleep(10)
    await longEnoughForAReport()
    expect(unhandled).toEqual([])
  })

  it('is not failed once another test has made a time of its own; only its sleeps are told of', async () => {
    const finished = watched()
    const neverRejected = vi.fn()
    finished.sleep(10).catch(neverRejected)
    const silent = watched()
    silent.setTimer(() => {}, 10)
    using _next = watched()
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 5000 })
    await longEnoughForAReport()
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/sleep\(10\)/)
    expect(neverRejected).not.toHaveBeenCalled()
  })

  it('hears nothing more after dispose, which leaves time movable', async () => {
    const time = watched()
    const fired: number[] = []
    time.setTimer(() => fired.push(time.now()), 10)
    const slept = time.sleep(20)
    time.dispose()
    time.dispose()
    time.setTimer(() => fired.push(time.now()), 30)
    await longEnoughForAReport()
    expect(warnings).toEqual([])
    await time.advance(30)
    await slept
    expect(fired).toEqual([10, 30])
  })

  it('hears nothing where the watch is turned off', async () => {
    using time = new VirtualTime({ watchdogMs: false, warn: (message) => warnings.push(message) })
    void time.sleep(10)
    await longEnoughForAReport()
    expect(warnings).toEqual([])
  })

  it('does not keep its process alive', () => {
    using time = watched()
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    void time.sleep(10)
    time.setTimer(() => {}, 10)
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')).toHaveLength(before)
  })
})
