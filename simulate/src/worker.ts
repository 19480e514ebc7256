/** A process that runs blocks of seeds for `campaign.ts`, one after another. */
import type { Block } from './block.js'
import { openSeam } from './engine-seam.js'

// Nobody reads the stacks of simulated failures, and taking them costs a tenth of the time.
Error.stackTraceLimit = 0
openSeam()
const { runBlock } = await import('./block.js')

process.on('message', (block: Block) => {
  void runBlock(block).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
