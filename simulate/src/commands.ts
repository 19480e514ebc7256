/** What the command line does, in words or as a line of JSON. Each tells whether all is as it should be. */
import { LAWS, type LawName, PREMISES } from '@simba/testing'
import type { Failure } from './block.js'
import { type CampaignResult, runCampaign } from './campaign.js'
import { defects } from './defects/all.js'
import { appendToLedger, nextSeed } from './ledger.js'
import { minimise } from './minimise.js'
import { argumentsOf, type Choice, isPremise, type Request } from './options.js'
import { runSeed } from './run-seed.js'
import { Transcript } from './transcript.js'

type RequestOf<Kind extends Request['kind']> = Extract<Request, { readonly kind: Kind }>

/** Progress is shown this often, in ms of real time. */
const PROGRESS_MS = 5_000

export function list(): void {
  console.log('Premises of the world:')
  for (const [name, { holds, keeps }] of Object.entries(PREMISES)) {
    console.log(`  ${name.padEnd(24)} not true: ${holds} (still kept: ${keeps.join(', ')})`)
  }
  console.log('Rules of the engine:')
  for (const [name, { does }] of Object.entries(defects)) console.log(`  ${name.padEnd(24)} ${does}`)
}

export async function replay({ seed, trace, choice, json }: RequestOf<'replay'>): Promise<boolean> {
  const transcript = new Transcript(trace)
  const { observer, wrap } = transcript
  const outcome = await runSeed(seed, choice, trace > 0 ? { observer, wrap } : {})
  for (const line of transcript.lines.slice(-trace)) if (trace > 0) console.log(line)
  const [first] = outcome.violations
  if (json) {
    console.log(JSON.stringify({ kind: 'seed', seed, violations: outcome.violations }))
    return first === undefined
  }
  const { nodes, leaseMs, faults, uses } = outcome.scenario
  console.log(
    `Seed ${seed}: ${nodes} nodes, lease ${leaseMs} ms, ${outcome.terms} terms in ${Math.round(outcome.virtualMs)} ms.`,
  )
  console.log(`Faults: ${[...faults.keys()].join(', ') || 'none'}. Uses: ${[...uses].join(', ') || 'none'}.`)
  if (first === undefined) {
    console.log('No law was broken.')
    return true
  }
  tellFailure({ seed, violations: outcome.violations }, choice, await minimise(seed, choice, first.law))
  return false
}

export async function campaign(request: RequestOf<'campaign'>): Promise<boolean> {
  const { choice, jobs, json, ledger } = request
  const from = request.from === 'next' ? nextSeed() : request.from
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  let shownAt = 0
  const told = new Set<number>()
  const result = await runCampaign({
    from,
    seeds: request.seeds,
    jobs,
    choice,
    goesOn: ({ failures }) =>
      seconds() < request.minutes * 60 &&
      (choice.broken === undefined || isPremise(choice.broken) || failures.length === 0),
    onProgress: (soFar) => {
      if (choice.broken === undefined) tellAtOnce(soFar.failures, told)
      if (json || performance.now() - shownAt < PROGRESS_MS) return
      shownAt = performance.now()
      console.log(
        `${count(soFar.seeds)} seeds, ${soFar.failures.length} with a broken law, ${seconds().toFixed(0)} s`,
      )
    },
  })
  if (ledger) {
    appendToLedger({
      from,
      seeds: result.seeds,
      violations: result.failures.length,
      seconds: Math.round(seconds()),
      virtualSeconds: Math.round(result.virtualMs / 1000),
    })
  }
  const good = choice.broken === undefined ? result.failures.length === 0 : isSeen(result, choice.broken)
  if (json) {
    console.log(JSON.stringify(summary(result, seconds(), choice)))
  } else if (choice.broken === undefined) {
    await tellCampaign(result, seconds(), choice)
  } else {
    tellBroken(result, choice.broken)
  }
  return good
}

/** A long campaign may never come to its end. */
function tellAtOnce(failures: readonly Failure[], told: Set<number>): void {
  for (const { seed, violations } of failures) {
    if (told.has(seed)) continue
    told.add(seed)
    console.error(`seed ${seed}: ${violations.map(({ law, what }) => `${law}: ${what}`).join('; ')}`)
  }
}

/** Whether a broken premise was seen to break a law, and none that it must keep. */
function isSeen(result: CampaignResult, broken: string): boolean {
  return result.failures.length > 0 && wronglyBroken(result, broken).length === 0
}

function wronglyBroken({ failures }: CampaignResult, broken: string): readonly Failure[] {
  if (!isPremise(broken)) return []
  const kept = new Set<LawName>(PREMISES[broken].keeps)
  return failures.filter(({ violations }) => violations.some(({ law }) => kept.has(law)))
}

function summary(result: CampaignResult, seconds: number, { broken }: Choice): object {
  const { from, seeds, failures, virtualMs, terms, refused, accepted } = result
  return {
    kind: 'summary',
    from,
    seeds,
    violations: failures.length,
    seconds: Math.round(seconds * 10) / 10,
    virtualSeconds: Math.round(virtualMs / 1000),
    terms,
    refusedWrites: refused,
    acceptedWrites: accepted,
    ...(broken === undefined ? {} : { broken, firstSeed: failures[0]?.seed, laws: lawsOf(failures) }),
    ...(failures.length === 0 ? {} : { failing: failures.slice(0, 20).map(({ seed }) => seed) }),
  }
}

async function tellCampaign(result: CampaignResult, seconds: number, choice: Choice): Promise<void> {
  const { seeds, failures, terms, virtualMs, refused } = result
  console.log(
    `${count(seeds)} seeds in ${seconds.toFixed(0)} s: ${count(terms)} terms in ${count(Math.round(virtualMs / 3_600_000))} hours of simulated time, ${count(refused)} stale writes refused.`,
  )
  if (failures.length === 0) {
    console.log('No law was broken.')
    return
  }
  console.log(
    `${failures.length} seeds broke a law: ${failures
      .slice(0, 20)
      .map(({ seed }) => seed)
      .join(', ')}`,
  )
  const [first] = failures
  const law = first?.violations[0]?.law
  if (first !== undefined && law !== undefined)
    tellFailure(first, choice, await minimise(first.seed, choice, law))
}

function tellFailure({ seed, violations }: Failure, choice: Choice, smaller: Choice): void {
  for (const { law, atMs, what } of violations.slice(0, 3)) {
    console.log(`\n${law} is broken at ${atMs.toFixed(1)} ms: ${what}.`)
    console.log(`The law: ${LAWS[law]}.`)
  }
  console.log(`\nSee it:    npm run simulate -- --seed ${seed}${argumentsOf(choice)} --trace`)
  if (smaller !== choice)
    console.log(`Smaller:   npm run simulate -- --seed ${seed}${argumentsOf(smaller)} --trace`)
}

function tellBroken(result: CampaignResult, broken: string): void {
  const { failures, seeds } = result
  const [first] = failures
  if (first === undefined) {
    console.log(`Breaking "${broken}" was not noticed in ${count(seeds)} seeds: the checks are blind to it.`)
    return
  }
  const laws = [...lawsOf(failures)].map(([law, times]) => `${law} (${times} seeds: ${LAWS[law]})`)
  console.log(
    `Breaking "${broken}" was noticed in ${failures.length} of ${count(seeds)} seeds, first in seed ${first.seed}: ${laws.join('; ')}.`,
  )
  if (isPremise(broken)) {
    const { keeps } = PREMISES[broken]
    const wrong = wronglyBroken(result, broken)
    console.log(
      wrong.length === 0
        ? `Kept all the same: ${keeps.join(', ')}.`
        : `But these must hold even so: ${keeps.join(', ')}; seed ${wrong[0]?.seed} breaks one.`,
    )
  }
  console.log(`See it:    npm run simulate -- --seed ${first.seed} --break ${broken} --trace`)
}

function lawsOf(failures: readonly Failure[]): readonly (readonly [LawName, number])[] {
  const times = new Map<LawName, number>()
  for (const { violations } of failures) {
    for (const law of new Set(violations.map((violation) => violation.law)))
      times.set(law, (times.get(law) ?? 0) + 1)
  }
  return [...times]
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
