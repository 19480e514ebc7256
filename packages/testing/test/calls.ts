import type { CallOptions, LeaseBackend, Session, SessionId } from '@simba/core'
import { MemoryLeaseBackend, VirtualTime } from '../src/index.js'

export const leaseMs = 1000

/** A call that nobody aborts. */
export function call(): CallOptions {
  return { signal: new AbortController().signal, timeoutMs: 500 }
}

/** A call and the way to abort it. */
export function abortable(): { readonly options: CallOptions; readonly abort: (reason: Error) => void } {
  const controller = new AbortController()
  return {
    options: { signal: controller.signal, timeoutMs: 500 },
    abort: (reason) => controller.abort(reason),
  }
}

export async function opened(backend: LeaseBackend, metadata = '{}'): Promise<Session> {
  const { id } = await backend.openSession({ leaseMs, metadata }, call())
  return { id, leaseMs }
}

export function world(): { readonly time: VirtualTime; readonly backend: MemoryLeaseBackend } & Disposable {
  const time = new VirtualTime()
  const backend = new MemoryLeaseBackend({ clock: time })
  return { time, backend, [Symbol.dispose]: () => time.dispose() }
}

/** Whether a promise is settled once all else has. */
export async function isPending(time: VirtualTime, promise: Promise<unknown>): Promise<boolean> {
  let pending = true
  const settle = () => {
    pending = false
  }
  promise.then(settle, settle)
  await time.settle()
  return pending
}

export function holderOf(backend: MemoryLeaseBackend, name: string): SessionId | undefined {
  return backend.contents().leases.find((lease) => lease.name === name)?.holder
}
