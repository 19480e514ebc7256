/** Many seeds on several processes. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Block, BlockResult, Failure } from './block.js'
import type { Choice } from './options.js'

export interface CampaignOptions {
  readonly from: number
  readonly seeds: number
  readonly jobs: number
  readonly choice: Choice
  /** Whether to go on after this much. */
  goesOn(soFar: CampaignResult): boolean
  onProgress(soFar: CampaignResult): void
}

export interface CampaignResult {
  readonly from: number
  /** How many seeds are done, without a gap. */
  readonly seeds: number
  readonly failures: readonly Failure[]
  readonly virtualMs: number
  readonly terms: number
  readonly refused: number
  readonly accepted: number
}

/** Small enough that all processes end at about the same time. */
const BLOCK_SEEDS = 25

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { from, seeds, jobs, choice } = options
  let next = from
  let result: CampaignResult = {
    from,
    seeds: 0,
    failures: [],
    virtualMs: 0,
    terms: 0,
    refused: 0,
    accepted: 0,
  }
  const take = (): Block | undefined => {
    const left = from + seeds - next
    if (left <= 0 || !options.goesOn(result)) return undefined
    const block = { from: next, seeds: Math.min(BLOCK_SEEDS, left), choice }
    next += block.seeds
    return block
  }
  const onResult = (block: BlockResult) => {
    result = add(result, block)
    options.onProgress(result)
  }
  await Promise.all(Array.from({ length: jobs }, () => runWorker(take, onResult)))
  return result
}

function add(sum: CampaignResult, block: BlockResult): CampaignResult {
  return {
    from: sum.from,
    seeds: sum.seeds + block.seeds,
    failures: [...sum.failures, ...block.failures].sort((a, b) => a.seed - b.seed),
    virtualMs: sum.virtualMs + block.virtualMs,
    terms: sum.terms + block.terms,
    refused: sum.refused + block.refused,
    accepted: sum.accepted + block.accepted,
  }
}

function runWorker(take: () => Block | undefined, onResult: (result: BlockResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker: ChildProcess = fork(fileURLToPath(new URL('./worker.js', import.meta.url)))
    let done = false
    const giveWork = () => {
      const block = take()
      if (block !== undefined) {
        worker.send(block)
        return
      }
      done = true
      worker.disconnect()
    }
    worker.on('message', (message: 'ready' | BlockResult) => {
      if (message !== 'ready') onResult(message)
      giveWork()
    })
    worker.on('exit', (code, signal) => {
      if (done) resolve()
      else reject(new Error(`A simulating process ended early, with ${signal ?? `code ${code}`}.`))
    })
  })
}
