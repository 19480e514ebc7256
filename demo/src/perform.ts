/** One performance: plays the story, has it judged, and says how it went as an exit code. */
import { execFile } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { backends } from './backends/by-name.js'
import { monotonicMs } from './clock.js'
import type { StoryEvent, Summary } from './event.js'
import { jsonPrinter } from './json-printer.js'
import type { Verdict } from './judge.js'
import { Narrator } from './narrator.js'
import type { DemoOptions } from './options.js'
import { paintFor } from './paint.js'
import { ActError, Stage } from './stage.js'
import { pace, Story } from './story.js'
import { textPrinter } from './text-printer.js'
import type { WardenPipe } from './warden-pipe.js'

const JUDGE = fileURLToPath(new URL('./judge-main.js', import.meta.url))

/** A signal that asks the demo to end, as an exit code by the custom of shells. */
type Ended = { readonly code: number }

export async function perform(options: DemoOptions, folder: string, warden: WardenPipe): Promise<number> {
  const backend = backends.get(options.backend)
  if (backend === undefined) throw new Error(`There is no backend "${options.backend}".`)
  const startedAt = monotonicMs()
  const time = () => monotonicMs() - startedAt
  const write = (text: string) => void process.stdout.write(text)
  const printer = options.json
    ? jsonPrinter(write)
    : textPrinter(write, paintFor(process.stdout, process.env))
  const narrator = new Narrator(printer, time)
  const { tell } = narrator
  const { nodes, leaseMs } = options
  const { rounds } = pace(options)
  const asked = askedToEnd()

  tell({
    kind: 'start',
    atMs: 0,
    nodes,
    backend: backend.name,
    place: backend.place,
    leaseMs,
    rounds,
    folder,
  })
  const location = await backend.prepare(folder)
  const stage = new Stage(options, location, folder, warden, tell, startedAt)
  const story = new Story(stage, options, tell)

  const faults: string[] = []
  const played = story.play().catch((error: unknown) => {
    if (!(error instanceof ActError)) throw error
    faults.push(error.message)
  })
  const ended = await Promise.race([asked, played])
  if (ended !== undefined) {
    await stage.killAll()
    narrator.finish()
    return ended.code
  }
  await stage.killAll()

  tell({ kind: 'judging', atMs: time() })
  const verdict = await judgeFolder(folder)
  faults.push(...verdict.faults)
  tellVerdict(verdict, faults, startedAt, tell)
  narrator.summary(summarize(verdict))
  if (faults.length === 0) return 0
  warden.keepFolder()
  process.stderr.write(`What the processes wrote down is kept in ${folder}\n`)
  return 1
}

async function judgeFolder(folder: string): Promise<Verdict> {
  const { stdout } = await promisify(execFile)(process.execPath, [JUDGE, folder], { maxBuffer: 2 ** 26 })
  return JSON.parse(stdout)
}

function tellVerdict(
  verdict: Verdict,
  faults: readonly string[],
  startedAt: number,
  tell: (event: StoryEvent) => void,
): void {
  const atMs = monotonicMs() - startedAt
  for (const { node, token, from, until, accepted, refused } of verdict.terms) {
    const [fromMs, untilMs] = [from - startedAt, until - startedAt]
    tell({ kind: 'term', atMs, node, token, fromMs, untilMs, accepted, refused })
  }
  tell({ kind: 'judged', atMs, reads: verdict.reads })
  for (const message of faults) tell({ kind: 'fault', atMs, message })
}

function summarize(verdict: Verdict): Summary {
  return {
    kind: 'summary',
    terms: verdict.terms.length,
    overlaps: verdict.overlaps,
    refusedWrites: verdict.refused,
    acceptedWrites: verdict.accepted,
    tokens: verdict.terms.map(({ token }) => token),
    gapsMs: verdict.gapsMs.map((gap) => Math.round(gap)),
  }
}

/** Resolves when somebody wants the demo to end, or nobody reads it any more. */
function askedToEnd(): Promise<Ended> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolve({ code: 128 + constants.signals[signal] }))
    }
    process.stdout.on('error', () => resolve({ code: 128 + constants.signals.SIGPIPE }))
  })
}
