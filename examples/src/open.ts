/** What all programs here begin with: a file that the processes of one machine share. */
import { DatabaseSync } from '@photostructure/sqlite'
import { Simba } from '@simba/core'
import { SqlLeaseBackend } from '@simba/sql'

export async function open(): Promise<Simba> {
  const backend = SqlLeaseBackend.sqlite(new DatabaseSync(process.env.LEASES ?? 'leases.db'))
  await backend.createSchema()
  const simba = new Simba({ backend, leaseDuration: '3s', metadata: { pid: process.pid } })
  // In order, so that another process goes on at once instead of after the lease.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simba.close())
  return simba
}
