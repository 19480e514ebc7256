/** One node: a process of its own. It competes, works while it leads, and writes down what it sees. */
import { Simba, type SimbaEvent } from '@simba/core'
import { backends } from './backends/by-name.js'
import { monotonicMs } from './clock.js'
import { Journal } from './journal.js'
import { LeaderWork } from './leader-work.js'
import type { NodeSetting, Report } from './report.js'
import { Witness } from './witness.js'

/** Besides the looks before and after each write. */
const LOOK_EVERY_MS = 10

async function main(setting: NodeSetting): Promise<void> {
  const adapter = backends.get(setting.backend)
  if (adapter === undefined) throw new Error(`There is no backend "${setting.backend}".`)
  const journal = new Journal(setting.journal)
  const note = (text: string) => journal.append({ kind: 'note', at: monotonicMs(), text })
  journal.append({ kind: 'begin', node: setting.node, pid: process.pid, at: monotonicMs() })

  const { backend, ledger, close } = await adapter.connect(setting.location)
  const simba = new Simba({
    backend,
    leaseDuration: setting.leaseMs,
    metadata: { node: setting.node, pid: process.pid },
    logger: { warn: note, error: note },
  })
  const witness = new Witness(journal)
  const work = new LeaderWork(setting.node, setting.leaseMs, ledger, witness, journal, report)

  simba.subscribe((event) => {
    note(JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)))
    onEvent(event)
  })
  const election = simba.election('ledger')
  election.runWhileLeader((term) => work.lead(term))
  const looking = setInterval(() => witness.lookAround(election.term), LOOK_EVERY_MS)

  process.on('message', () => work.slowWrite())
  // The story is over, or its process has died.
  process.on('disconnect', () => process.exit(0))
  // Ctrl-C reaches every process of the terminal; the story ends its nodes itself.
  process.on('SIGINT', () => {})
  process.once('SIGTERM', async () => {
    await simba.close()
    clearInterval(looking)
    await close()
    report({ kind: 'closed', at: monotonicMs() })
    process.removeAllListeners('disconnect')
    // Nothing is left that would keep the process: it ends by itself.
    process.disconnect()
  })
}

function onEvent(event: SimbaEvent): void {
  const at = monotonicMs()
  if (event.type === 'SessionOpened') report({ kind: 'up', at })
  if (event.type === 'Revoked')
    report({ kind: 'revoked', at, token: String(event.token), reason: event.reason })
}

function report(report: Report): void {
  if (process.connected) process.send?.(report)
}

await main(JSON.parse(process.argv[2] ?? ''))
