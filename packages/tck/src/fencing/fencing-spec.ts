import { type PreparedCase, register } from '../runner.js'
import { fencingCases } from './cases.js'
import { overlappingWrites, staleWriterOvertaken, writeIntoTheGap } from './interleaving.js'
import type { FencedResource, FencingSpecOptions } from './options.js'

const handlesInAll = 4

/**
 * Registers the suite for a resource that is protected by fencing tokens: it must accept a write only if the token is not smaller
 * than the largest one accepted before. A case that fails names the rule, what was seen, and what to do.
 *
 * @throws Error if there is no test runner.
 *
 * @example
 * import { describe, it } from 'node:test'
 *
 * fencingSpec({ name: 'ledger', runner: { describe, it }, create: () => new Ledger(pool, randomUUID()) })
 */
export function fencingSpec<R extends FencedResource>(options: FencingSpecOptions<R>): void {
  const { createPausable, rounds = 25, pauseMs = 100 } = options
  register({
    runner: options.runner,
    suite: `fenced resource ${options.name}`,
    topics: [
      {
        title: 'one write after another',
        cases: fencingCases.map(
          ({ title, run }): PreparedCase => ({
            title,
            run: () => withHandles(options, 1, ([one]) => run(one)),
          }),
        ),
      },
      {
        title: 'writes that overlap',
        cases: [
          {
            title: 'of many writes at once, that with the largest token stands',
            run: () => withHandles(options, handlesInAll, (handles) => overlappingWrites(handles, rounds)),
          },
          {
            title: 'a write that began earlier does not overwrite one with a larger token',
            run: () =>
              withHandles(options, 2, ([one, other = one]) => staleWriterOvertaken([one, other], 4 * rounds)),
          },
          {
            title: 'nothing comes between the check of the token and the change',
            skip: createPausable === undefined ? 'no `createPausable` was given' : undefined,
            run: async () => {
              const made: FencedResource[] = []
              try {
                if (createPausable !== undefined)
                  await writeIntoTheGap(createPausable.bind(options), pauseMs, (resource) =>
                    made.push(resource),
                  )
              } finally {
                for (const resource of made) await options.dispose?.(resource)
              }
            },
          },
        ],
      },
    ],
    timeoutMs: options.caseTimeoutMs ?? 60_000,
    log: options.log ?? ((line) => console.info(line)),
  })
}

type Handles = readonly [FencedResource, ...FencedResource[]]

async function withHandles<R extends FencedResource>(
  options: FencingSpecOptions<R>,
  count: number,
  run: (handles: Handles) => Promise<void>,
): Promise<void> {
  const first = await options.create()
  const others: FencedResource[] = []
  try {
    for (let i = 1; i < count && options.connect !== undefined; i++) others.push(await options.connect(first))
    await run([first, ...others])
  } finally {
    for (const handle of others.reverse()) await options.dispose?.(handle)
    await options.dispose?.(first)
  }
}
