/** Ways to every phase that an election, a group, a session and a client can be in; each is gone on a fresh rig. */
import type { ElectionKind } from '../../src/engine/event.js'
import { expired, granted, heldBy, joined, opened, type Rig, renewed } from './rig.js'

export interface Way {
  readonly to: string
  readonly go: (rig: Rig) => void
}

export const ELECTION = 'a'
export const GROUP = 'g'
export const KINDS = ['plain', 'working', 'exclusive', 'lock'] as const satisfies readonly ElectionKind[]
export const NOWHERE: Way = { to: 'none', go: () => {} }

const way = (to: string, go: (rig: Rig) => void): Way => ({ to, go })

function lead(rig: Rig, kind: ElectionKind): void {
  rig.lead(ELECTION, 7n, kind)
}

/** An attempt in flight that nobody waits for any more. */
function giveUpAttempt(rig: Rig, kind: ElectionKind): void {
  rig.start(ELECTION, kind)
  rig.stop(ELECTION)
}

/** The renewal's answer does not list the term's lease, as if somebody had taken it. */
function takeOver(rig: Rig): void {
  renewNow(rig)
  rig.answer(rig.pending('keepAlive'), renewed())
}

/** The renewal is sent; what else is due has not run yet. */
function renewNow(rig: Rig): void {
  rig.freezeUntil(Math.max(rig.now, rig.timers.get('renew') ?? rig.now))
  rig.fire('renew')
}

/** One way to each phase, for the kinds that have it; all in an open session. */
export function electionPhases(kind: ElectionKind): Way[] {
  const works = kind !== 'plain'
  return [
    way(`${kind} candidate`, (rig) => rig.start(ELECTION, kind)),
    way(`${kind} leader`, (rig) => lead(rig, kind)),
    ...(works
      ? [
          way(`${kind} handover`, (rig) => {
            lead(rig, kind)
            rig.stop(ELECTION)
          }),
        ]
      : []),
    way(`${kind} releasing`, (rig) => {
      lead(rig, kind)
      rig.stop(ELECTION)
      if (works) rig.workExited(ELECTION)
    }),
    way(`${kind} cooldown`, (rig) => {
      rig.start(ELECTION, kind)
      rig.stepDown(ELECTION, 4_000)
    }),
  ]
}

/** The other ways to be in those phases: what is waited for, and what follows, differs. */
export function electionDetails(kind: ElectionKind): Way[] {
  const ways = [
    way(`${kind} candidate that was hinted`, (rig) => {
      rig.start(ELECTION, kind)
      rig.released(ELECTION)
    }),
    way(`${kind} candidate before its next attempt`, (rig) => {
      rig.start(ELECTION, kind)
      rig.answer(rig.pending('acquire'), heldBy('s9'))
    }),
    way(`${kind} candidate behind an attempt that was given up`, (rig) => {
      giveUpAttempt(rig, kind)
      rig.start(ELECTION, kind)
    }),
    way(`${kind} candidate behind a release`, (rig) => {
      giveUpAttempt(rig, kind)
      rig.answer(rig.pending('acquire'), granted(7n))
      rig.start(ELECTION, kind)
    }),
    way(`${kind} candidate behind a release without an answer`, (rig) => {
      giveUpAttempt(rig, kind)
      rig.answer(rig.pending('acquire'), granted(7n))
      rig.fail(rig.pending('release'))
      rig.start(ELECTION, kind)
    }),
    way(`${kind} releasing before a cooldown`, (rig) => {
      lead(rig, kind)
      rig.stepDown(ELECTION, 4_000)
      rig.workExited(ELECTION)
    }),
  ]
  if (kind === 'plain') return ways
  ways.push(
    way(`${kind} leader without work`, (rig) => {
      lead(rig, kind)
      rig.workExited(ELECTION)
    }),
    way(`${kind} handover before a cooldown`, (rig) => {
      lead(rig, kind)
      rig.stepDown(ELECTION, 4_000)
    }),
    way(`${kind} handover that a stop followed`, (rig) => {
      lead(rig, kind)
      rig.stepDown(ELECTION, 4_000)
      rig.stop(ELECTION)
    }),
  )
  if (kind !== 'exclusive') return ways
  ways.push(
    way('exclusive candidate behind work', (rig) => {
      lead(rig, kind)
      takeOver(rig)
    }),
    way('exclusive cooldown behind work', (rig) => {
      lead(rig, kind)
      rig.stepDown(ELECTION, 20_000)
      takeOver(rig)
    }),
  )
  return ways
}

export const groupPhases: readonly Way[] = [
  way('joining', (rig) => rig.join(GROUP)),
  way('member', (rig) => rig.member(GROUP)),
  way('leaving', (rig) => {
    rig.member(GROUP)
    rig.leave(GROUP)
  }),
  way('departed', (rig) => {
    rig.member(GROUP)
    rig.leave(GROUP)
    rig.fail(rig.pending('leave'))
  }),
]

export const groupDetails: readonly Way[] = [
  way('joining before the next try', (rig) => {
    rig.join(GROUP)
    rig.fail(rig.pending('join'))
  }),
  way('member that looks', (rig) => {
    rig.join(GROUP)
    rig.answer(rig.pending('join'), joined)
  }),
  way('member that looks and was hinted', (rig) => {
    rig.join(GROUP)
    rig.answer(rig.pending('join'), joined)
    rig.hint({ kind: 'members', group: GROUP })
  }),
  way('leaving with a join in doubt', (rig) => {
    rig.join(GROUP)
    rig.leave(GROUP)
  }),
  way('leaving, to be left again', (rig) => {
    rig.join(GROUP)
    const join = rig.pending('join')
    rig.leave(GROUP)
    rig.answer(join, joined)
  }),
  way('departed with a leave in flight', (rig) => {
    rig.join(GROUP)
    const join = rig.pending('join')
    rig.leave(GROUP)
    rig.fail(rig.pending('leave'))
    rig.answer(join, joined)
  }),
  way('departed with a join in doubt', (rig) => {
    rig.join(GROUP)
    rig.leave(GROUP)
    rig.answer(rig.pending('leave'))
  }),
  way('joining after a leave without an answer', (rig) => {
    rig.member(GROUP)
    rig.leave(GROUP)
    rig.fail(rig.pending('leave'))
    rig.join(GROUP)
  }),
]

/** What may be started before there is a session. */
export const coldElections = (kind: ElectionKind): Way[] => [
  way(`${kind} candidate`, (rig) => rig.start(ELECTION, kind)),
  way(`${kind} cooldown`, (rig) => {
    rig.start(ELECTION, kind)
    rig.stepDown(ELECTION, 4_000)
  }),
]
export const coldGroups: readonly Way[] = [way('joining', (rig) => rig.join(GROUP))]

/** From a session that is being opened for the first time. */
export const coldSessions: readonly Way[] = [
  way('opening', () => {}),
  way('opening after a failure', (rig) => rig.fail(rig.pending('openSession'))),
  way('closing while opening', (rig) => rig.close()),
]

/** From an open session. */
export const sessions: readonly Way[] = [
  way('live', () => {}),
  way('renewing', renewNow),
  way('suspended', (rig) => {
    renewNow(rig)
    rig.fail(rig.pending('keepAlive'))
  }),
  way('suspended and renewing', (rig) => {
    renewNow(rig)
    rig.fail(rig.pending('keepAlive'))
    renewNow(rig)
  }),
  way('opening after the deadline', (rig) => {
    renewNow(rig)
    rig.freezeUntil(rig.timers.get('deadline') ?? rig.now)
    rig.fire('deadline')
  }),
  way('opening after the second short-lived session', (rig) => {
    for (const id of ['s2', 's3']) {
      renewNow(rig)
      rig.answer(rig.pending('keepAlive'), expired)
      if (rig.state.session.phase === 'opening' && rig.state.session.request !== undefined)
        rig.answer(rig.pending('openSession'), opened(id))
    }
  }),
  way('closing', (rig) => rig.close()),
  way('closing with force', (rig) => rig.close({ force: true })),
  way('closing after a failure', (rig) => {
    rig.close({ force: true })
    rig.fail(rig.pending('closeSession'))
  }),
  way('closed', (rig) => {
    rig.close({ force: true })
    rig.answer(rig.pending('closeSession'))
  }),
]
