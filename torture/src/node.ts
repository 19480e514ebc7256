/** One tortured process: it competes, writes to the fenced table while it leads, and writes down all that it sees. */
import { Simba } from '@simba/core'
import { backends } from '../../demo/dist/backends/by-name.js'
import { monotonicMs, sleep } from '../../demo/dist/clock.js'
import { Journal } from '../../demo/dist/journal.js'
import { Witness } from '../../demo/dist/witness.js'
import type { NodeSetting } from './setting.js'

/** Between two looks at `isValid`, besides those before and after each write. */
const LOOK_EVERY_MS = 5
const WRITE_EVERY_MS = 20

const setting: NodeSetting = JSON.parse(process.argv[2] ?? '')
const adapter = backends.get(setting.backend)
if (adapter === undefined) throw new Error(`There is no backend "${setting.backend}".`)
const journal = new Journal(setting.journal)
const note = (text: string) => journal.append({ kind: 'note', at: monotonicMs(), text })
journal.append({ kind: 'begin', node: setting.node, pid: process.pid, at: monotonicMs() })

const { backend, ledger, close } = await adapter.connect(setting.location)
const simba = new Simba({
  backend,
  leaseDuration: setting.leaseMs,
  metadata: { node: setting.node },
  logger: { warn: note, error: note },
})
simba.subscribe((event) =>
  note(JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))),
)
const witness = new Witness(journal)
const election = simba.election('ledger')
let writes = 0

election.runWhileLeader(async (term) => {
  const token = String(term.token)
  while (witness.look(term)) {
    const from = monotonicMs()
    try {
      const result = await ledger.write(term.token, setting.node, ++writes)
      const position = result.accepted ? { position: result.position } : {}
      journal.append({
        kind: 'write',
        token,
        from,
        to: monotonicMs(),
        accepted: result.accepted,
        ...position,
      })
    } catch (error) {
      note(`a write failed: ${String(error)}`)
    }
    witness.look(term)
    await sleep(WRITE_EVERY_MS)
  }
})
const looking = setInterval(() => witness.lookAround(election.term), LOOK_EVERY_MS)

// A program that computes: nothing else of the process runs meanwhile, and it looks again only afterwards.
process.on('message', ({ busyMs }: { readonly busyMs: number }) => {
  const until = performance.now() + busyMs
  while (performance.now() < until);
  witness.lookAround(election.term)
})
process.on('disconnect', () => process.exit(0))
process.once('SIGTERM', async () => {
  await simba.close()
  clearInterval(looking)
  await close()
  process.removeAllListeners('disconnect')
  // Nothing is left that would keep the process: it ends by itself.
  process.disconnect()
})
process.send?.('begun')
