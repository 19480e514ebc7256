import type { LeaseBackend } from '@simba/core'
import { realTime, type SpecTime } from './real-time.js'
import type { TestRunner } from './runner.js'

/** Options of `leaseBackendSpec`. */
export interface LeaseBackendSpecOptions<B extends LeaseBackend = LeaseBackend> {
  /** Stands in the title of the suite. */
  readonly name: string

  /** Default: the global `describe` and `it` (or `test`), as jest has them. */
  readonly runner?: TestRunner

  /**
   * Gives a backend; called once for each case. All of them may use one storage, even one with old data: every case uses names of its
   * own.
   */
  create(): B | Promise<B>

  /**
   * Gives a second backend object on the storage of the first, as another process would have it. Where every `create()` uses the same
   * storage, give `create` again. Without it, the cases that need two are skipped, and the others use one for all sessions.
   */
  connect?(backend: B): LeaseBackend | Promise<LeaseBackend>

  /** Frees what `create` and `connect` made; called at the end of each case for each of them, after `backend.close()`. */
  dispose?(backend: LeaseBackend): void | Promise<void>

  /** How time passes. Default: real time. For a backend with a virtual clock give that. */
  readonly time?: SpecTime

  /** The optional methods that the backend has. Default: none. A declared one that is absent fails, and so does one not declared. */
  readonly capabilities?: { readonly hints?: boolean; readonly inspect?: boolean }

  /**
   * The lease duration of sessions that are to expire, in ms; default 1000. In real time the suite waits for it about sixty times.
   * Longer is kinder to a slow machine.
   */
  readonly leaseMs?: number

  /** The lease duration of sessions that are not to expire during a case, in ms; default 30,000. */
  readonly longLeaseMs?: number

  /** How exact clocks and expiry are. */
  readonly tolerance?: {
    /**
     * By how much a session may end before the time it was told, counted from before the request was sent; in ms, default 5. It covers
     * the resolution of the two clocks, and must be less than the `margin` of your clients. 0 for virtual time.
     */
    readonly earlyMs?: number
    /** How much later than its lease duration a session may expire; in ms, default 100. ZooKeeper, for one, rounds to ticks. */
    readonly lateMs?: number
    /** Within how many ms a hint arrives; default 2000. */
    readonly hintMs?: number
  }

  /** How long one backend call may take, in ms of real time; default 10,000. Goes into `CallOptions.timeoutMs`. */
  readonly callTimeoutMs?: number

  /** How long one case may take, in ms of real time; default 60,000. node:test has no limit unless you give it one. */
  readonly caseTimeoutMs?: number

  /** How often each race is run, in batches of sixteen; default 4. */
  readonly raceRounds?: number

  /** Takes the reasons of skips. Default `console.info`. */
  readonly log?: (line: string) => void
}

/** The numbers that cases use. */
export interface Settings {
  readonly time: SpecTime
  readonly leaseMs: number
  readonly longLeaseMs: number
  readonly earlyMs: number
  readonly lateMs: number
  readonly hintMs: number
  readonly callTimeoutMs: number
  readonly raceRounds: number
}

/** @throws RangeError if a number is none that can be used. */
export function settingsOf<B extends LeaseBackend>(options: LeaseBackendSpecOptions<B>): Settings {
  const { time = realTime, tolerance = {} } = options
  return {
    time,
    leaseMs: atLeast(50, 'leaseMs', options.leaseMs ?? 1000),
    longLeaseMs: atLeast(1000, 'longLeaseMs', options.longLeaseMs ?? 30_000),
    earlyMs: atLeast(0, 'tolerance.earlyMs', tolerance.earlyMs ?? 5),
    lateMs: atLeast(0, 'tolerance.lateMs', tolerance.lateMs ?? 100),
    hintMs: atLeast(1, 'tolerance.hintMs', tolerance.hintMs ?? 2000),
    callTimeoutMs: atLeast(1, 'callTimeoutMs', options.callTimeoutMs ?? 10_000),
    raceRounds: atLeast(1, 'raceRounds', options.raceRounds ?? 4),
  }
}

function atLeast(least: number, name: string, value: number): number {
  if (Number.isFinite(value) && value >= least) return value
  throw new RangeError(`leaseBackendSpec: ${name} is ${value}; give a number of at least ${least}.`)
}
