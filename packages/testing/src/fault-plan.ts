import { BackendError, ConfigError } from '@simba/core'
import type { Fault, FaultTarget } from './faults.js'

/** All faults that one call meets, taken together. */
export interface FaultPlan {
  requestMs: number
  replyMs: number
  repeatMs: number[]
  loseRequest: boolean
  loseReply: boolean
  recall: boolean
  before: Error | undefined
  after: Error | undefined
}

export function planOf(faults: readonly Fault[], target: FaultTarget): Readonly<FaultPlan> {
  const plan: FaultPlan = {
    requestMs: 0,
    replyMs: 0,
    repeatMs: [],
    loseRequest: false,
    loseReply: false,
    recall: false,
    before: undefined,
    after: undefined,
  }
  for (const fault of faults) {
    switch (fault.kind) {
      case 'delay-request':
        plan.requestMs += fault.ms
        plan.recall ||= fault.recall ?? false
        break
      case 'delay-reply':
        plan.replyMs += fault.ms
        break
      case 'lose-request':
        plan.loseRequest = true
        break
      case 'lose-reply':
        plan.loseReply = true
        break
      case 'repeat-request':
        plan.repeatMs.push(fault.ms)
        break
      case 'fail-before':
        plan.before ??= fault.error ?? injected(target, 'before')
        break
      case 'fail-after':
        plan.after ??= fault.error ?? injected(target, 'after')
        break
      default:
        unreachable(fault)
    }
  }
  return plan
}

function injected({ on, name }: FaultTarget, moment: 'before' | 'after'): BackendError {
  const what = name === undefined ? on : `${on} of "${name}"`
  return new BackendError(`Memory backend: an injected fault failed ${what} ${moment} it took effect.`)
}

function unreachable(fault: never): never {
  throw new ConfigError(`Unknown fault ${JSON.stringify(fault)}.`)
}
