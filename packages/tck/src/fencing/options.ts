import type { TestRunner } from '../runner.js'

/** A resource that takes a write only if no larger token has written before. One handle to it; there may be several. */
export interface FencedResource {
  /**
   * Stores the value if the token is not smaller than the largest one accepted so far, and remembers the token; as one atomic step.
   *
   * @returns whether the write was accepted. It rejects only for other reasons, such as a lost connection.
   */
  write(token: bigint, value: string): Promise<boolean>

  /** The value of the last accepted write. */
  read(): Promise<string | undefined>
}

/** Options of `fencingSpec`. */
export interface FencingSpecOptions<R extends FencedResource = FencedResource> {
  /** Stands in the title of the suite. */
  readonly name: string

  /** Default: the global `describe` and `it` (or `test`), as jest has them. */
  readonly runner?: TestRunner

  /** Gives a resource that nobody has written to; called once for each case. */
  create(): R | Promise<R>

  /**
   * Gives another handle to the same resource, as another process would have it: a connection of its own, where there are connections.
   * Default: the same handle, with calls that overlap.
   */
  connect?(resource: R): FencedResource | Promise<FencedResource>

  /**
   * Gives a fresh resource whose writes call `pause` between their check of the token and their change, and wait for it; for resources
   * that let a test do so. The case then puts a whole write with a larger token into that gap. A resource that locks makes that write
   * wait, and passes; so does one that compares and sets, and one that never calls `pause`.
   */
  createPausable?(pause: () => Promise<void>): FencedResource | Promise<FencedResource>

  /** Frees what the three above made; called at the end of each case for each of them, the first one last. */
  dispose?(resource: FencedResource): void | Promise<void>

  /** How many rounds of overlapping writes are tried; default 25. */
  readonly rounds?: number

  /** How long a write into the gap may wait for the lock of the paused one, in ms of real time; default 100. */
  readonly pauseMs?: number

  /** How long one case may take, in ms of real time; default 60,000. node:test has no limit unless you give it one. */
  readonly caseTimeoutMs?: number

  /** Takes the reasons of skips. Default `console.info`. */
  readonly log?: (line: string) => void
}
