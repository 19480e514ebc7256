/** What it costs to ask a term whether it is valid, beside the clock readings that it cannot do without. */
import { Simba, SystemClock } from '@simba/core'
import { MemoryLeaseBackend } from '@simba/testing'
import { type Measure, median, perSecond } from './measure.js'

const READS = 1_000_000

export async function validity(): Promise<readonly Measure[]> {
  const simba = new Simba({
    backend: new MemoryLeaseBackend({ clock: new SystemClock() }),
    leaseDuration: '1h',
  })
  const term = await simba.lock('x').acquire()
  let seen = 0
  const own = () => {
    for (let index = 0; index < READS; index++) if (term.isValid) seen++
  }
  const bare = () => {
    for (let index = 0; index < READS; index++) if (performance.now() + Date.now() > 0) seen++
  }
  own()
  bare()
  const pairs: number[] = []
  const ratio = await median(9, () => {
    const [one, other] = [perSecond(READS, own), perSecond(READS, bare)]
    pairs.push(1e9 / one)
    return other / one
  })
  await simba.close()
  if (seen === 0) throw new Error('unreachable')
  const ns = pairs.sort((a, b) => a - b)[Math.floor(pairs.length / 2)] ?? 0
  return [
    {
      bench: 'engine',
      measure: 'reading isValid',
      value: ns,
      unit: 'ns',
      baseline: ns / ratio,
      ratio,
      goal: 'at most 1.5 × performance.now() and Date.now()',
      met: ratio <= 1.5,
    },
  ]
}
