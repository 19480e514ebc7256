/** `npm run torture`: see `options.ts` for what it can be asked. Exits with 1 if a law was broken. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WardenPipe } from '../../demo/dist/warden-pipe.js'
import { HELP, parse, type TortureOptions, UsageError } from './options.js'
import { type TortureResult, torture } from './torture.js'

try {
  const options = parse(process.argv.slice(2), Number(process.hrtime.bigint() % 1_000_000n))
  if (options === 'help') console.log(HELP)
  else process.exitCode = await run(options)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}

async function run(options: TortureOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'simba-torture-'))
  const warden = new WardenPipe(folder)
  const began = performance.now()
  const tell = (line: string) => {
    if (!options.json)
      console.log(`${((performance.now() - began) / 1000).toFixed(2).padStart(8)} s  ${line}`)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void warden.finish().then(() => process.exit(1)))
  }
  tell(
    `${options.nodes} processes, backend ${options.backend}, lease ${options.leaseMs} ms, seed ${options.seed}`,
  )
  const result = await torture(options, folder, warden, tell)
  if (result.broken.length > 0) warden.keepFolder()
  await warden.finish()
  if (options.json) console.log(JSON.stringify(summary(options, result, performance.now() - began)))
  else tellResult(result, folder)
  return result.broken.length === 0 ? 0 : 1
}

function summary(
  { backend, seed }: TortureOptions,
  { faults, verdict, broken }: TortureResult,
  ms: number,
): object {
  return {
    kind: 'summary',
    backend,
    seed,
    seconds: Math.round(ms / 1000),
    faults: Object.fromEntries(faults),
    terms: verdict.terms.length,
    overlaps: verdict.overlaps,
    acceptedWrites: verdict.accepted,
    refusedWrites: verdict.refused,
    broken,
  }
}

function tellResult({ faults, verdict, broken }: TortureResult, folder: string): void {
  const { terms, reads, overlaps, accepted, refused, gapsMs } = verdict
  console.log()
  for (const [name, times] of faults) console.log(`  ${String(times).padStart(5)} × ${name}`)
  console.log(
    `\n  ${terms.length} terms, ${overlaps} overlaps in ${reads.toLocaleString('en-US')} looks at isValid`,
  )
  console.log(`  ${accepted} writes accepted, ${refused} refused by the fenced table`)
  console.log(`  the longest time without a leader: ${(Math.max(0, ...gapsMs) / 1000).toFixed(2)} s\n`)
  if (broken.length === 0) {
    console.log('  No law was broken.')
    return
  }
  for (const what of broken.slice(0, 20)) console.log(`  BROKEN: ${what}`)
  console.log(`  What the processes wrote down is kept in ${folder}`)
}
