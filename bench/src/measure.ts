/** One figure, what it is compared with in the same run, and what it is meant to be. */
export interface Measure {
  readonly bench: string
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** What a user would have otherwise, measured in the same run. */
  readonly baseline?: number
  /** Value through baseline, or the other way round: above 1 is better. */
  readonly ratio?: number
  /** In words. */
  readonly goal: string
  readonly met: boolean
}

/** The median of several runs, each of which tells its figure. */
export async function median(runs: number, run: () => number | Promise<number>): Promise<number> {
  const figures: number[] = []
  for (let index = 0; index < runs; index++) figures.push(await run())
  figures.sort((a, b) => a - b)
  return figures[Math.floor(figures.length / 2)] ?? Number.NaN
}

/** How often something can be done in a second. */
export function perSecond(times: number, work: () => void): number {
  const began = performance.now()
  work()
  return (times * 1000) / (performance.now() - began)
}

/** The used heap after everything that can be collected has been. Needs `--expose-gc`. */
export function heapUsed(): number {
  if (globalThis.gc === undefined) throw new Error('The memory benchmark needs node --expose-gc.')
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
