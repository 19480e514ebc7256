/**
 * Tells whether a call comes from inside a run or callback that is still pending, and so would wait for itself. Each run goes through
 * an async function with a name of its own, and V8 keeps those that await the caller in the caller's stack: a call is inside if and only
 * if a pending run awaits it. Nothing is paid at an await, and a server, timer or signal handler that a run created is not inside (ADR
 * 0005 has the alternatives, and what this does not see).
 */
let nextFrame = 0

/** How many frames of a stack are looked at. */
const DEPTH = 200

export class OwnFrames {
  private readonly pending = new Set<string>()
  private caller: string | undefined

  /** Runs the body in the next microtask, as a frame that {@link calledFromInside} recognises until it settles. */
  async enter<T>(body: () => T | PromiseLike<T>): Promise<T> {
    const name = `simba:run:${nextFrame++}`
    const frames = {
      async [name](): Promise<T> {
        return await body()
      },
    }
    const frame = frames[name]
    if (frame === undefined) throw new Error('unreachable')
    this.pending.add(name)
    try {
      await undefined
      return await frame()
    } finally {
      this.pending.delete(name)
    }
  }

  /** Takes a function as inside, until it is unmarked. */
  mark(caller: string | undefined): void {
    this.caller = caller
  }

  calledFromInside(): boolean {
    if (this.pending.size === 0 && this.caller === undefined) return false
    return callSites().some((site) => {
      const name = site.getFunctionName()
      if (name !== null && this.pending.has(name)) return true
      return this.caller !== undefined && functionOf(site) === this.caller
    })
  }
}

/** Node has these; its types do not. */
interface EnclosingFunction {
  getEnclosingLineNumber?(): number | null
  getEnclosingColumnNumber?(): number | null
}

/**
 * The function that called the caller of this one. The body of a `for await` is no function of its own, so the function around it has to
 * stand for it.
 */
export function callingFunction(): string | undefined {
  return functionOf(callSites()[3])
}

/** Identifies a function by where it stands in its script. */
function functionOf(site: (NodeJS.CallSite & EnclosingFunction) | undefined): string | undefined {
  const line = site?.getEnclosingLineNumber?.()
  const column = site?.getEnclosingColumnNumber?.()
  if (site === undefined || line == null || column == null) return undefined
  return `${site.getScriptNameOrSourceURL()}:${line}:${column}`
}

/** The caller's stack, with the async functions that await it. */
export function callSites(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  let sites: readonly NodeJS.CallSite[] = []
  try {
    Error.stackTraceLimit = DEPTH
    Error.prepareStackTrace = (_, stack) => {
      sites = stack
      return ''
    }
    // Reading the stack is what collects it.
    void new Error().stack
  } catch {
    // Hardened environments may forbid it: then no call counts as inside, and waits for the deadline at most.
  } finally {
    try {
      Error.prepareStackTrace = prepareStackTrace
      Error.stackTraceLimit = stackTraceLimit
    } catch {}
  }
  return sites
}
