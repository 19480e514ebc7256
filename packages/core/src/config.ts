/** The options of a client: checked, with defaults, once. */
import { checkFunction, checkKeys } from './arguments.js'
import type { LeaseBackend } from './backend.js'
import { type Duration, toMs } from './duration.js'
import type { Timing } from './engine/timing.js'
import { ConfigError } from './errors.js'
import { checkName } from './lease-name.js'
import type { Clock } from './runtime/clock.js'

/** Where messages go that nobody listens to and a person must know: compatible with `console`. */
export interface Logger {
  warn(message: string, ...details: readonly unknown[]): void
  error(message: string, ...details: readonly unknown[]): void
}

/** What {@link Simba} is made of. */
export interface SimbaOptions {
  /** Where sessions and leases live, such as `SqlLeaseBackend.sqlite(database)`. */
  readonly backend: LeaseBackend
  /**
   * How long the backend keeps the session after its last renewal, and so how long others wait after a crash. Default 15 s. Shorter:
   * faster takeover, less tolerance of slow calls and pauses.
   */
  readonly leaseDuration?: Duration
  /** How often the session is renewed, and how long a backend call may take. Default a third of `leaseDuration`, at most half of it. */
  readonly renewInterval?: Duration
  /** How much the clock rates of this machine and the backend's may differ, as a fraction. Default 0.01; from 0 to below 0.5. */
  readonly drift?: number
  /** Taken off each deadline as well. Default 50 ms. */
  readonly margin?: Duration
  /** A candidate tries again after half of `renewInterval` and a random part of this. Default half of `renewInterval`. */
  readonly retryJitter?: Duration
  /** The least time between two tries of a failed renewal. Default 100 ms. */
  readonly minBackoff?: Duration
  /** Prefixes every lease and group name (`billing:report`), so that two applications can share a backend. None by default. */
  readonly namespace?: string
  /** Tells operators who this is: a JSON value of at most 1024 characters as text. None by default. */
  readonly metadata?: unknown
  /** Default `console`. */
  readonly logger?: Logger
  /** For tests: where time comes from. */
  readonly clock?: Clock
  /** For tests: the seed of the jitter, an integer. Random by default. */
  readonly seed?: number
}

export interface Config {
  readonly backend: LeaseBackend
  readonly timing: Timing
  readonly namespace: string | undefined
  readonly metadata: string
  readonly logger: Logger
}

const MAX_METADATA = 1024

const OPTIONS: { readonly [Name in keyof Required<SimbaOptions>]: true } = {
  backend: true,
  leaseDuration: true,
  renewInterval: true,
  drift: true,
  margin: true,
  retryJitter: true,
  minBackoff: true,
  namespace: true,
  metadata: true,
  logger: true,
  clock: true,
  seed: true,
}

/** @throws ConfigError that says what was given, what is allowed, and shows the arithmetic. */
export function checkOptions(options: SimbaOptions): Config {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigError('Simba needs options: new Simba({ backend }).')
  }
  checkKeys('Simba', options, OPTIONS)
  const { logger = console, clock, seed } = options
  checkBackend(options.backend)
  if (clock !== undefined) {
    checkFunction('clock.now', clock?.now)
    checkFunction('clock.setTimer', clock?.setTimer)
  }
  if (seed !== undefined && !Number.isInteger(seed)) {
    throw new ConfigError(`seed is ${seed}; it must be an integer.`)
  }
  if (options.namespace !== undefined) checkName('lease', options.namespace)
  return {
    backend: options.backend,
    timing: checkTiming(options),
    namespace: options.namespace,
    metadata: checkMetadata(options.metadata),
    logger: checkLogger(logger),
  }
}

function checkLogger(logger: Logger): Logger {
  checkFunction('logger.warn', logger?.warn)
  checkFunction('logger.error', logger?.error)
  return logger
}

const BACKEND_METHODS = [
  'openSession',
  'keepAlive',
  'closeSession',
  'acquire',
  'release',
  'join',
  'leave',
  'members',
  'close',
] as const

function checkBackend(backend: LeaseBackend): void {
  const missing = BACKEND_METHODS.filter((method) => typeof backend?.[method] !== 'function')
  if (missing.length === 0) return
  throw new ConfigError(
    `The backend is not a LeaseBackend: it has no ${missing.join(', ')}. Pass one such as SqlLeaseBackend.sqlite(database), not a database, pool or client itself.`,
  )
}

function checkTiming(options: SimbaOptions): Timing {
  const { leaseDuration = '15s', drift = 0.01, margin = 50, minBackoff = 100 } = options
  const leaseMs = toMs(leaseDuration, 'leaseDuration', 1)
  const { renewInterval = leaseMs / 3 } = options
  const renewMs = toMs(renewInterval, 'renewInterval', 1)
  const { retryJitter = renewMs / 2 } = options
  if (!(typeof drift === 'number' && drift >= 0 && drift < 0.5))
    throw new ConfigError(`drift is ${drift}; it must be from 0 to below 0.5.`)
  const marginMs = toMs(margin, 'margin')
  const retryJitterMs = toMs(retryJitter, 'retryJitter')
  const minBackoffMs = toMs(minBackoff, 'minBackoff', 1)
  if (renewMs * 2 > leaseMs) {
    throw new ConfigError(
      `renewInterval × 2 must be at most leaseDuration, to leave room for a second try: ${renewMs} × 2 = ${renewMs * 2} > ${leaseMs} ms. Shorten renewInterval or lengthen leaseDuration.`,
    )
  }
  const validityMs = leaseMs * (1 - drift) - marginMs
  if (validityMs <= renewMs) {
    throw new ConfigError(
      `leaseDuration × (1 − drift) − margin must be greater than renewInterval, or each term would end before its renewal: ${leaseMs} × ${1 - drift} − ${marginMs} = ${validityMs} ≤ ${renewMs} ms. Lengthen leaseDuration, or lessen drift, margin or renewInterval.`,
    )
  }
  return { leaseMs, renewMs, drift, marginMs, retryJitterMs, minBackoffMs }
}

function checkMetadata(metadata: unknown): string {
  if (metadata === undefined) return ''
  const text = toJson(metadata)
  if (text.length > MAX_METADATA) {
    throw new ConfigError(
      `metadata has ${text.length} characters as JSON; at most ${MAX_METADATA} are allowed.`,
    )
  }
  return text
}

function toJson(metadata: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(metadata)
  } catch (cause) {
    throw new ConfigError(
      `metadata must be a JSON value: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
  if (text === undefined)
    throw new ConfigError(`metadata must be a JSON value; given was a ${typeof metadata}.`)
  return text
}
