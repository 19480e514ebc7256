/** One listener per signal, however many calls wait on it: an application's one shutdown signal may be given to a hundred thousand calls. */
export class AbortListeners {
  private readonly signals = new WeakMap<
    AbortSignal,
    { readonly callbacks: Set<() => void>; readonly listen: () => void }
  >()

  /** Calls back once when the signal aborts. Returns the end of the subscription; the last one removes the listener. */
  add(signal: AbortSignal | undefined, callback: () => void): () => void {
    if (signal === undefined) return () => {}
    const entry = this.signals.get(signal) ?? this.listen(signal)
    entry.callbacks.add(callback)
    return () => {
      if (!entry.callbacks.delete(callback) || entry.callbacks.size > 0) return
      signal.removeEventListener('abort', entry.listen)
      this.signals.delete(signal)
    }
  }

  private listen(signal: AbortSignal): { readonly callbacks: Set<() => void>; readonly listen: () => void } {
    const callbacks = new Set<() => void>()
    const listen = () => {
      this.signals.delete(signal)
      for (const callback of [...callbacks]) callback()
      callbacks.clear()
    }
    const entry = { callbacks, listen }
    this.signals.set(signal, entry)
    signal.addEventListener('abort', listen, { once: true })
    return entry
  }
}
