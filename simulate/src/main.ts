/** `npm run simulate`: see `options.ts` for what it can be asked. */
import { availableParallelism } from 'node:os'
import { openSeam } from './engine-seam.js'

openSeam()
const { HELP, parse, UsageError } = await import('./options.js')
const { campaign, list, replay } = await import('./commands.js')

try {
  const request = parse(process.argv.slice(2), availableParallelism())
  if (request.kind === 'help') console.log(HELP)
  else if (request.choice.broken === 'list') list()
  else process.exitCode = (await (request.kind === 'replay' ? replay(request) : campaign(request))) ? 0 : 1
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}
