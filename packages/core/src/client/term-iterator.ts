/**
 * The terms of an election as an async iteration. The body of the loop is the work of its term: it counts as running until it asks for
 * the next term, and the election does not compete meanwhile if its term is lost.
 */
import type { Term } from '../term.js'
import type { Candidacy, CandidacyHooks, Run } from './candidacy.js'
import type { Client } from './client.js'
import type { LiveTerm } from './live-term.js'
import { callingFunction } from './own-frames.js'

export class TermIterator implements AsyncIterableIterator<Term>, CandidacyHooks {
  private candidacy: Candidacy | undefined
  /** A term that nobody has asked for yet. */
  private fresh: LiveTerm | undefined
  /** The body that is running. */
  private body: Run | undefined
  /** The function around the loop. */
  private consumer: string | undefined
  private over: { readonly error?: unknown } | undefined
  private wake: () => void = () => {}
  private tail: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly client: Client,
    private readonly name: string,
    private readonly signal: AbortSignal | undefined,
  ) {}

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Term, undefined>> {
    this.endBody()
    this.consumer = callingFunction()
    const result = this.tail.then(() => this.advance())
    this.tail = result.catch(() => {})
    return result
  }

  /** The loop was left. */
  async return(): Promise<IteratorResult<Term, undefined>> {
    this.endBody()
    this.over ??= {}
    this.wake()
    await this.candidacy?.stop()
    return { done: true, value: undefined }
  }

  private async advance(): Promise<IteratorResult<Term, undefined>> {
    // Of a term whose successor was asked for before it was given out.
    this.endBody()
    if (this.candidacy === undefined && this.over === undefined) this.start()
    for (;;) {
      if (this.over !== undefined) {
        const { over } = this
        this.over = {}
        await this.candidacy?.stop()
        if ('error' in over) throw over.error
        return { done: true, value: undefined }
      }
      if (this.fresh !== undefined) {
        const term = this.fresh
        this.fresh = undefined
        this.beginBody(term)
        return { done: false, value: term }
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  private start(): void {
    const { client, name, signal } = this
    client.ensureOpen('terms()')
    signal?.throwIfAborted()
    client.reserve(name, 'iteration')
    const aborted = () => {
      this.over = { error: signal?.reason }
      this.wake()
    }
    this.candidacy = client.begin(name, 'exclusive', this, signal, aborted)
  }

  elected(term: LiveTerm, candidacy: Candidacy): void {
    this.fresh = term
    term.onEnd(() => {
      // It ended before anybody saw it: there is no body to wait for.
      if (this.fresh !== term) return
      this.fresh = undefined
      candidacy.workExited(term)
    })
    this.wake()
  }

  stopped(): void {
    this.over ??= {}
    this.wake()
  }

  private beginBody(term: LiveTerm): void {
    this.body = this.candidacy?.beginRun(term, this.client.clock.now())
    this.candidacy?.frames.mark(this.consumer)
  }

  private endBody(): void {
    const { candidacy, body } = this
    if (candidacy === undefined || body === undefined) return
    this.body = undefined
    candidacy.frames.mark(undefined)
    candidacy.endRun(body)
  }
}
