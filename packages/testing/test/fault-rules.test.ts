/** A fault that cannot be meant as it is written is refused: a test whose fault does nothing would pass. */
import { ConfigError } from '@simba/core'
import { type FaultRule, MemoryLeaseBackend, VirtualTime } from '@simba/testing'
import { expect, test } from 'vitest'

const backend = new MemoryLeaseBackend({ clock: new VirtualTime() })

test.each([
  [{ client: 'a', fault: { kind: 'lose-request' } }, /kind is undefined; give one of: delay-request/],
  [{ kind: 'loose-request' }, /kind is loose-request/],
  [{ kind: 'lose-request', on: 'aquire' }, /on is aquire; give one or more of: openSession/],
  [{ kind: 'lose-request', on: ['acquire', 'free'] }, /on is free/],
  [{ kind: 'delay-reply', ms: -1 }, /ms is -1; give 0 or more ms/],
  [{ kind: 'delay-reply', ms: Number.NaN }, /ms is NaN/],
  [{ kind: 'lose-reply', times: 0 }, /times is 0; give 1 or more/],
])('%j is refused', (rule, message) => {
  const add = () => backend.faults.add(rule as FaultRule)
  expect(add).toThrow(ConfigError)
  expect(add).toThrow(message)
})

test('so is one that a rule decides on', async () => {
  const rule = { decide: () => ({ kind: 'lose' }) }
  const takeBack = backend.faults.add(rule as unknown as FaultRule)
  const call = async () =>
    backend.openSession(
      { leaseMs: 1_000, metadata: '' },
      { signal: new AbortController().signal, timeoutMs: 1_000 },
    )
  await expect(call()).rejects.toThrow(/kind is lose; give one of/)
  takeBack()
})
