/** What the story tells, one event after the other: printed as sentences for people, or as JSON lines. */

/** `atMs` is the time since the start. Tokens are decimal texts, as JSON has no bigint. */
export type StoryEvent =
  | {
      readonly kind: 'start'
      readonly atMs: number
      readonly nodes: number
      readonly backend: string
      readonly place: string
      readonly leaseMs: number
      readonly rounds: number
      readonly folder: string
    }
  | {
      readonly kind: 'act'
      readonly atMs: number
      readonly round: number
      readonly act: ActName
    }
  | {
      readonly kind: 'started'
      readonly atMs: number
      readonly node: string
      readonly pid: number
      readonly again: boolean
    }
  /** Its session is live. `again`: it lost one before, in the same process. */
  | { readonly kind: 'up'; readonly atMs: number; readonly node: string; readonly again: boolean }
  | {
      readonly kind: 'elected'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly remainingMs: number
      /** Since the leader before was killed or stopped, or left. */
      readonly gapMs?: number
      readonly before?: { readonly node: string; readonly end: LeaderEnd }
    }
  | {
      readonly kind: 'working'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly writes: number
      readonly remainingMs: number
    }
  | {
      readonly kind: 'killed' | 'stopped'
      readonly atMs: number
      readonly node: string
      readonly pid: number
      /** About how long its lease still has to run. */
      readonly leaseLeftMs: number
    }
  | {
      readonly kind: 'midWrite'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly write: number
    }
  | { readonly kind: 'continued'; readonly atMs: number; readonly node: string; readonly pid: number }
  | { readonly kind: 'woken'; readonly atMs: number; readonly node: string; readonly stoodStillMs: number }
  | {
      readonly kind: 'lateWrite'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly write: number
      readonly accepted: boolean
      readonly highest: string
    }
  | {
      readonly kind: 'firstLook'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly isValid: boolean
    }
  | {
      readonly kind: 'revoked'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly reason: string
    }
  | { readonly kind: 'asked'; readonly atMs: number; readonly node: string; readonly pid: number }
  | { readonly kind: 'left'; readonly atMs: number; readonly node: string; readonly exitCode: number }
  | { readonly kind: 'judging'; readonly atMs: number }
  | {
      readonly kind: 'term'
      readonly atMs: number
      readonly node: string
      readonly token: string
      readonly fromMs: number
      readonly untilMs: number
      readonly accepted: number
      readonly refused: number
    }
  | { readonly kind: 'judged'; readonly atMs: number; readonly reads: number }
  | { readonly kind: 'fault'; readonly atMs: number; readonly message: string }

/** The end of the story, by the judge. */
export interface Summary {
  readonly kind: 'summary'
  readonly terms: number
  readonly overlaps: number
  readonly refusedWrites: number
  readonly acceptedWrites: number
  readonly tokens: readonly string[]
  /** Between each term and the next, as observed. */
  readonly gapsMs: readonly number[]
}

export type ActName = 'lead' | 'kill' | 'sleep' | 'leave' | 'end'

/** How a leader came to lead no more. */
export type LeaderEnd = 'killed' | 'stopped' | 'left' | 'revoked'
