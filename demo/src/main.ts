/**
 * The demo: real processes that elect a leader, and what happens when the one that leads is killed, stopped or asked to leave.
 * `npm run demo -- --help` lists the options.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HELP, OptionError, parseOptions } from './options.js'
import { perform } from './perform.js'
import { WardenPipe } from './warden-pipe.js'

const WRONG_OPTION = 2

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (options === 'help') {
    process.stdout.write(HELP)
    return 0
  }
  if (process.platform === 'win32') {
    throw new OptionError(
      'The demo stops processes with SIGSTOP, which Windows does not have: run it on Linux or macOS.',
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'simba-demo-'))
  const warden = new WardenPipe(folder)
  try {
    return await perform(options, folder, warden)
  } finally {
    await warden.finish()
  }
}

try {
  // At once: an interrupted story would wait for what will not come any more.
  process.exit(await main())
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  process.stderr.write(`${error.message}\nRun with --help for the options.\n`)
  process.exitCode = WRONG_OPTION
}
