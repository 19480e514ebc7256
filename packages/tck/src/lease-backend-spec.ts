import type { LeaseBackend } from '@simba/core'
import { settles } from './call.js'
import type { Need, SpecCase, SpecTopic } from './case.js'
import { callsTopic } from './cases/calls.js'
import { closingTopic } from './cases/closing.js'
import { concurrencyTopic } from './cases/concurrency.js'
import { expiryTopic } from './cases/expiry.js'
import { groupsTopic } from './cases/groups.js'
import { hintsTopic } from './cases/hints.js'
import { inspectTopic } from './cases/inspect.js'
import { leasesTopic } from './cases/leases.js'
import { namesTopic } from './cases/names.js'
import { ownedTopic } from './cases/owned.js'
import { racesTopic } from './cases/races.js'
import { sessionsTopic } from './cases/sessions.js'
import { takeoverTopic } from './cases/takeover.js'
import { tokensTopic } from './cases/tokens.js'
import { untilVerdict } from './no-verdict.js'
import { type LeaseBackendSpecOptions, type Settings, settingsOf } from './options.js'
import { must } from './rules.js'
import { type PreparedCase, register } from './runner.js'
import { World } from './world.js'

const topics: readonly SpecTopic[] = [
  sessionsTopic,
  expiryTopic,
  closingTopic,
  leasesTopic,
  takeoverTopic,
  tokensTopic,
  ownedTopic,
  groupsTopic,
  namesTopic,
  concurrencyTopic,
  racesTopic,
  hintsTopic,
  inspectTopic,
  callsTopic,
]

/**
 * Registers the contract suite for a backend: one case for each rule of `LeaseBackend` that can be seen from outside. A case that
 * fails names the rule, what was seen, and what to do.
 *
 * The cases of a suite must run one after another, as all runners do by default, since they share the time.
 *
 * @throws Error if there is no test runner; RangeError if a number among the options is none that can be used.
 *
 * @example
 * import { describe, it } from 'vitest'
 *
 * leaseBackendSpec({ name: 'mine', runner: { describe, it }, create: () => new MyBackend(url), connect: () => new MyBackend(url) })
 */
export function leaseBackendSpec<B extends LeaseBackend>(options: LeaseBackendSpecOptions<B>): void {
  const settings = settingsOf(options)
  const prepare = ({ title, needs, run }: SpecCase): PreparedCase => ({
    title,
    skip: needs === undefined ? undefined : reasonToSkip(options, needs),
    run: () => untilVerdict(() => inWorld(options, settings, run)),
  })
  register({
    runner: options.runner,
    suite: `lease backend ${options.name}`,
    topics: [
      {
        title: 'capabilities',
        cases: [
          {
            title: 'the optional methods are exactly those that are declared',
            run: () => inWorld(options, settings, ({ backend }) => checkCapabilities(options, backend)),
          },
        ],
      },
      ...topics.map(({ title, cases }) => ({ title, cases: cases.map(prepare) })),
    ],
    timeoutMs: options.caseTimeoutMs ?? 60_000,
    log: options.log ?? ((line) => console.info(line)),
  })
}

function reasonToSkip<B extends LeaseBackend>(
  { connect, capabilities = {} }: LeaseBackendSpecOptions<B>,
  need: Need,
): string | undefined {
  switch (need) {
    case 'connect':
      return connect === undefined
        ? 'no `connect` was given, so that there is no second backend object'
        : undefined
    case 'hints':
    case 'inspect':
      return capabilities[need] === true ? undefined : `capabilities.${need} is not declared`
  }
}

async function checkCapabilities<B extends LeaseBackend>(
  { capabilities = {} }: LeaseBackendSpecOptions<B>,
  backend: LeaseBackend,
): Promise<void> {
  for (const method of ['hints', 'inspect'] as const) {
    const declared = capabilities[method] === true
    const present = typeof backend[method] === 'function'
    must(
      declared === present,
      'capabilities',
      `capabilities.${method} is ${declared}, but the backend has ${present ? 'the' : 'no'} method ${method}`,
      declared
        ? `write the method, or do not declare it`
        : `give capabilities: { ${method}: true }, so that it is tested, or leave the method out`,
    )
  }
}

async function inWorld<B extends LeaseBackend>(
  { create, connect, dispose }: LeaseBackendSpecOptions<B>,
  settings: Settings,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const made: LeaseBackend[] = []
  const freeAll = async () => {
    for (const backend of made.reverse()) {
      await settles(settings.callTimeoutMs, 'close', backend.close())
      await dispose?.(backend)
    }
  }
  try {
    const backend = await create()
    made.push(backend)
    const peer = await connect?.(backend)
    if (peer !== undefined) made.push(peer)
    const world = new World(settings, backend, peer ?? backend)
    try {
      await run(world)
    } finally {
      await world.tidy()
    }
  } catch (error) {
    // What the case found is worth more than what goes wrong afterwards.
    await freeAll().catch(() => {})
    throw error
  }
  await freeAll()
}
