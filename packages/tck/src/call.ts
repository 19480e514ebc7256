import type { CallOptions } from '@simba/core'
import { within } from './real-time.js'
import { rules } from './rules.js'

/** Makes one backend call, which must settle in time. */
export type Call = <T>(what: string, run: (call: CallOptions) => Promise<T>) => Promise<T>

/** Calls that meet no fault on purpose: they must answer, and a rejection is told with the call that it was. */
export function callsWithin(timeoutMs: number): Call {
  return async (what, run) => {
    const controller = new AbortController()
    try {
      return await settles(timeoutMs, what, run({ signal: controller.signal, timeoutMs }))
    } catch (error) {
      controller.abort(error)
      if (error instanceof UnsettledCall) throw error
      throw new Error(`${what} rejected: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
}

/** @throws UnsettledCall if the work is pending after so many ms of real time. */
export function settles<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  return within(timeoutMs, work, () => new UnsettledCall(what, timeoutMs))
}

/** A call that neither answers nor rejects. */
export class UnsettledCall extends Error {
  override readonly name: string = 'UnsettledCall'

  constructor(what: string, timeoutMs: number) {
    super(
      `Rule "calls" is broken: ${rules.calls}.\nSeen: ${what} was still pending after ${timeoutMs} ms.\n` +
        'To do: answer, or reject; heed CallOptions.signal and timeoutMs.',
    )
  }
}
