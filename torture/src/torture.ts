/** Does to real processes what happens to real processes, for a while; then lets them recover, ends them in order, and asks the judge. */
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { backends } from '../../demo/dist/backends/by-name.js'
import type { Verdict } from '../../demo/dist/judge.js'
import type { WardenPipe } from '../../demo/dist/warden-pipe.js'
import { Chance } from './chance.js'
import { disturbances } from './disturbances.js'
import { lastAccepted } from './journals.js'
import type { TortureOptions } from './options.js'
import { Tortured } from './tortured.js'

const JUDGE = fileURLToPath(new URL('../../demo/dist/judge-main.js', import.meta.url))

export interface TortureResult {
  readonly faults: ReadonlyMap<string, number>
  readonly verdict: Verdict
  /** Every law that was broken, in words. */
  readonly broken: readonly string[]
}

interface Fault {
  readonly name: string
  readonly of: 'node' | 'backend'
  /** Settles once it is over. */
  cause(node: Tortured): Promise<void>
}

export async function torture(
  options: TortureOptions,
  folder: string,
  warden: WardenPipe,
  tell: (line: string) => void,
): Promise<TortureResult> {
  const { leaseMs, nodes, backend, durationMs } = options
  const adapter = backends.get(backend)
  if (adapter === undefined) throw new Error(`There is no backend "${backend}".`)
  const location = await adapter.prepare(folder)
  const chance = new Chance(options.seed)
  const all = Array.from(
    { length: nodes },
    (_, index) => new Tortured({ node: `n${index + 1}`, backend, location, leaseMs }, folder, warden),
  )
  for (const node of all) node.start()
  await sleep(2 * leaseMs)

  const counts = new Map<string, number>()
  const faults = faultsOf(options, location, chance)
  const until = performance.now() + durationMs
  const pending = new Set<Promise<void>>()
  const suffering = new Set<Tortured | 'backend'>()
  while (performance.now() < until) {
    const [{ name, of, cause }, node] = [chance.pick(faults), chance.pick(all)]
    const victim = of === 'backend' ? of : node
    if (!suffering.has(victim)) {
      suffering.add(victim)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      tell(of === 'backend' ? name : `${node.name}: ${name}`)
      const over = cause(node).finally(() => {
        suffering.delete(victim)
        pending.delete(over)
      })
      pending.add(over)
    }
    await Promise.race([sleep(chance.between(0, 1.5 * leaseMs)), failureOf(pending)])
  }
  await Promise.all(pending)
  tell('all faults are over')

  const broken = await recover(folder, leaseMs)
  const began = performance.now()
  await Promise.all(all.map((node) => node.end('SIGTERM')))
  const tookMs = performance.now() - began
  const boundMs = 2 * leaseMs + 2_000
  if (tookMs > boundMs)
    broken.push(`Closing in order took ${Math.round(tookMs)} ms, more than ${boundMs} ms.`)
  const { stdout } = await promisify(execFile)(process.execPath, [JUDGE, folder], { maxBuffer: 2 ** 28 })
  const verdict: Verdict = JSON.parse(stdout)
  broken.push(...verdict.faults, ...all.flatMap(({ accidents }) => accidents))
  return { faults: counts, verdict, broken }
}

function faultsOf({ backend, leaseMs }: TortureOptions, location: string, chance: Chance): readonly Fault[] {
  const onBackend = (disturbances.get(backend) ?? []).map(
    ({ name, begin }): Fault => ({
      name,
      of: 'backend',
      async cause() {
        const end = await begin(location)
        await sleep(chance.between(leaseMs / 5, 2 * leaseMs))
        await end()
      },
    }),
  )
  return [
    {
      name: 'killed, and started again',
      of: 'node',
      async cause(node) {
        await node.end('SIGKILL')
        await sleep(chance.between(0, leaseMs))
        node.start()
      },
    },
    {
      name: 'closed in order, and started again',
      of: 'node',
      async cause(node) {
        await node.end('SIGTERM')
        await sleep(chance.between(0, leaseMs))
        node.start()
      },
    },
    {
      name: 'stopped for a while',
      of: 'node',
      async cause(node) {
        node.stop()
        await sleep(chance.between(leaseMs / 5, 3 * leaseMs))
        node.goOn()
      },
    },
    {
      name: 'busy for a while',
      of: 'node',
      async cause(node) {
        const busyMs = chance.between(leaseMs / 5, 2 * leaseMs)
        node.busy(busyMs)
        await sleep(busyMs)
      },
    },
    ...onBackend,
  ]
}

/** Rejects if one of them does; otherwise it is not heard of. */
function failureOf(pending: Iterable<Promise<void>>): Promise<never> {
  return new Promise((_, reject) => {
    for (const promise of pending) promise.catch(reject)
  })
}

/** Once the faults are over, somebody must lead, and write, within a lease, a few attempts, and what a busy machine takes. */
async function recover(folder: string, leaseMs: number): Promise<string[]> {
  const since = Number(process.hrtime.bigint() / 1_000n) / 1_000
  const boundMs = 4 * leaseMs + 3_000
  for (const end = performance.now() + boundMs; performance.now() < end; ) {
    await sleep(50)
    if (lastAccepted(folder) > since) return []
  }
  return [`Nobody led and wrote within ${boundMs} ms after the last fault.`]
}
