/** What must be so again within a bound, once all faults are over and the users rest. */
import type { MemoryLeaseBackend } from '../memory-backend.js'
import type { LawName } from './laws.js'
import type { Node } from './node.js'
import type { Scenario } from './scenario.js'

/** What is not yet as it should be. */
export interface Flaw {
  readonly law: LawName
  readonly what: string
}

export function flawsOf(
  scenario: Scenario,
  nodes: readonly Node[],
  backend: MemoryLeaseBackend,
): readonly Flaw[] {
  return [
    ...unledNames(nodes),
    ...unledPartitions(scenario, nodes),
    ...orphans(nodes, backend),
    ...unhealthy(nodes),
  ]
}

function unledNames(nodes: readonly Node[]): readonly Flaw[] {
  const started = new Map<string, string[]>()
  const led = new Set<string>()
  for (const { id, running } of nodes) {
    for (const { name, use, state, stopping, token, remainingMs } of running?.simba.snapshot().elections ??
      []) {
      if (stopping || use === 'partition') continue
      started.set(name, [...(started.get(name) ?? []), `${id} ${state}`])
      if (token !== undefined && remainingMs > 0) led.add(name)
    }
  }
  return [...started].flatMap(([name, states]) =>
    led.has(name) ? [] : [{ law: 'S15' as const, what: `nobody leads ${name}: ${states.join(', ')}` }],
  )
}

function unledPartitions(scenario: Scenario, nodes: readonly Node[]): readonly Flaw[] {
  return scenario.groups.flatMap(({ name, partitions }) => {
    const members = nodes.filter(({ running }) => running?.user.runsGroups.has(name))
    if (members.length === 0) return []
    const led = new Map<string, number>()
    for (const { running } of members) {
      for (const election of running?.simba.snapshot().elections ?? []) {
        if (election.use !== 'partition' || election.token === undefined || election.remainingMs === 0)
          continue
        led.set(election.name, (led.get(election.name) ?? 0) + 1)
      }
    }
    const names = Array.from({ length: partitions }, (_, partition) => `${name}.${partition}`)
    return names.flatMap((partition) =>
      led.get(partition) === 1
        ? []
        : [{ law: 'S15' as const, what: `${partition} runs on ${led.get(partition) ?? 0} nodes` }],
    )
  })
}

function orphans(nodes: readonly Node[], backend: MemoryLeaseBackend): readonly Flaw[] {
  const { leases, groups } = backend.contents()
  const flaws: Flaw[] = []
  const owner = (session: string) =>
    nodes.find(({ running }) => running?.simba.snapshot().session.id === session)
  for (const { name, holder, token } of leases) {
    if (holder === undefined) continue
    const node = owner(holder)
    const { elections = [], locks = [] } = node?.running?.simba.snapshot() ?? {}
    if ([...elections, ...locks].some((own) => own.name === name && own.token === token)) continue
    flaws.push({
      law: 'S11',
      what: `the lease of ${name} with token ${token} belongs to ${node?.id ?? 'nobody'}, who does not hold it`,
    })
  }
  for (const { group, members } of groups) {
    for (const member of members) {
      const node = owner(member)
      if (node?.running?.user.runsGroups.has(group)) continue
      flaws.push({
        law: 'S12',
        what: `${node?.id ?? 'a lost session'} is a member of ${group} and does not run it`,
      })
    }
  }
  return flaws
}

function unhealthy(nodes: readonly Node[]): readonly Flaw[] {
  return nodes.flatMap(({ id, running }) => {
    if (running === undefined || running.user.closed) return []
    const health = running.simba.health()
    return health.status === 'up'
      ? []
      : [{ law: 'S16' as const, what: `${id} says that it is ${health.status}` }]
  })
}
