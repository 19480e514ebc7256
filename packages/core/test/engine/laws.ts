/** What users and the backend see of one client, held against the laws: fed with each effect, knows nothing of the engine's state. */
import type { Completion, Effect } from '../../src/engine/effect.js'

interface TermSeen {
  readonly name: string
  readonly start: number
  readonly term: number
  readonly token: bigint
  /** When the lease may be released although the work has not exited: the deadline as it stood when the term was revoked. */
  keptUntil: number
  revoked: boolean
  exited: boolean
}

export class Laws {
  readonly broken: string[] = []
  /** What has been promised to users and not settled (stops, step-downs and stops of groups), each with its start. */
  readonly open = new Map<string, number>()
  closed = false
  forced = false
  /** Whether sessions live as long as they were granted; otherwise a hand-over may find that there is nothing left to hand over. */
  honest = true
  private deadline = Number.NEGATIVE_INFINITY
  private readonly terms: TermSeen[] = []
  private readonly highest = new Map<string, bigint>()

  take(effect: Effect, now: number, hasWork: (start: number) => boolean): void {
    if (this.closed) this.broken.push(`${effect.type} after the close`)
    switch (effect.type) {
      case 'deadline':
        this.deadline = effect.at
        if (effect.at !== Number.NEGATIVE_INFINITY) return
        for (const term of this.terms) term.keptUntil = Math.min(term.keptUntil, now)
        return
      case 'elected':
        this.elect(effect, now, hasWork(effect.start))
        return
      case 'revoked':
        for (const term of this.terms) {
          if (term.term !== effect.term) continue
          term.revoked = true
          term.keptUntil = effect.reason === 'TAKEN_OVER' ? now : this.deadline
        }
        return
      case 'call':
        if (effect.request.op === 'release') this.checkRelease(effect.request, now)
        return
      case 'complete':
        this.complete(effect.completion, now)
        return
      default:
        return
    }
  }

  /** The terms whose work runs. */
  running(): TermSeen[] {
    return this.terms.filter(({ exited }) => !exited)
  }

  private elect(elected: Extract<Effect, { type: 'elected' }>, now: number, hasWork: boolean): void {
    const { name, start, term, token } = elected
    if (now >= this.deadline) this.broken.push(`L6: ${name} is elected after the deadline`)
    if (token <= (this.highest.get(name) ?? 0n)) this.broken.push(`L4: token ${token} of ${name} is not new`)
    this.highest.set(name, token)
    this.terms.push({ name, start, term, token, keptUntil: Infinity, revoked: false, exited: !hasWork })
  }

  private complete(completion: Completion, now: number): void {
    switch (completion.kind) {
      case 'close':
        this.closed = true
        return
      case 'stepDown':
        this.settle(`step-down ${completion.call}`)
        return
      case 'stop':
      case 'groupStop':
        this.settleStart(completion.start)
        return
      case 'term':
        for (const term of this.terms) {
          if (term.term !== completion.term) continue
          if (this.honest) this.checkHandover(term, now, 'completed')
          term.keptUntil = now
        }
    }
  }

  private checkRelease(request: { readonly name: string; readonly token: bigint }, now: number): void {
    for (const term of this.terms) {
      if (term.name === request.name && term.token === request.token)
        this.checkHandover(term, now, 'released')
    }
  }

  private checkHandover({ name, keptUntil, exited }: TermSeen, now: number, what: string): void {
    if (exited || this.forced || now >= keptUntil) return
    this.broken.push(`L8: ${name} is ${what} ${keptUntil - now} ms before its work exited`)
  }

  /** With the end of a start goes a step-down that came too late to be heard. */
  private settleStart(start: number): void {
    this.settle(`start ${start}`)
    for (const [promise, of] of this.open) if (of === start) this.open.delete(promise)
  }

  private settle(promise: string): void {
    if (!this.open.delete(promise)) this.broken.push(`L10: ${promise} is settled twice, or was never made`)
  }
}
