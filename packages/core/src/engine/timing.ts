/**
 * All arithmetic on times that decides about a lease. Everything is in milliseconds, on the client's monotonic clock.
 */

/** The checked timing of a client; see `SimbaOptions` for what each value means. */
export interface Timing {
  readonly leaseMs: number
  readonly renewMs: number
  readonly drift: number
  readonly marginMs: number
  readonly retryJitterMs: number
  readonly minBackoffMs: number
}

/** How long a granted time may be relied on here: shortened by the clocks' drift and by the margin. May be negative. */
export function localValidity(remainingMs: number, timing: Timing): number {
  return remainingMs * (1 - timing.drift) - timing.marginMs
}

/**
 * When a session's granted time is over here. Counted from when the request was *sent*: the backend may have started to count at any
 * moment since then, so a slow reply can only make the deadline earlier than it need be, never later than it may be.
 */
export function deadlineOf(sentAt: number, remainingMs: number, timing: Timing): number {
  return sentAt + localValidity(remainingMs, timing)
}

/** A third of what remains, again and again, comes to the deadline in endlessly many steps. */
const LEAST_PERIOD_MS = 1

/** How often to renew, and whether that is more often than configured since the backend granted too little for two renewals. */
export function renewalPeriod(
  remainingMs: number,
  timing: Timing,
): { readonly periodMs: number; readonly shortened: boolean } {
  const validity = localValidity(remainingMs, timing)
  const shortened = remainingMs < timing.leaseMs && validity < 2 * timing.renewMs
  return shortened
    ? { periodMs: Math.max(LEAST_PERIOD_MS, validity / 3), shortened }
    : { periodMs: timing.renewMs, shortened }
}

/** How long to wait after a failed renewal: half of what remains, so that the tries get denser as the deadline comes nearer. */
export function renewalBackoff(now: number, deadline: number, timing: Timing): number {
  return Math.max(timing.minBackoffMs, Math.min(timing.renewMs, (deadline - now) / 2))
}

/** How long to wait after the n-th failure (from 0) to open a session. `random` is in [0, 1). */
export function openingBackoff(failures: number, random: number, timing: Timing): number {
  const ceiling = Math.min(timing.renewMs, timing.minBackoffMs * 2 ** Math.min(failures, 16))
  return Math.max(timing.minBackoffMs, ceiling * (0.5 + random / 2))
}

/** How long a candidate waits between two attempts. `random` is in [0, 1). */
export function retryDelay(random: number, timing: Timing): number {
  return timing.renewMs / 2 + random * timing.retryJitterMs
}
