/** When the runs of a scheduled task start. */
import { checkKeys } from './arguments.js'
import { type Duration, toMs } from './duration.js'

/** A schedule of runs within each term. Times are of the monotonic clock: steps of the wall clock are invisible. */
export class Schedule {
  private constructor(
    readonly kind: 'fixedDelay' | 'fixedRate',
    /** In ms. */
    readonly periodMs: number,
    /** In ms. */
    readonly initialDelayMs: number,
  ) {}

  /**
   * Waits `delay` from the end of a run to the start of the next. The first run starts `initialDelay` (default 0) after the term's start.
   *
   * @throws ConfigError if `delay` is below 1 ms.
   */
  static fixedDelay(delay: Duration, options: ScheduleOptions = {}): Schedule {
    return Schedule.of('fixedDelay', delay, options)
  }

  /**
   * Starts runs at `s + k × period`, where `s` is the term's start plus `initialDelay` (default 0) and k = 0, 1, 2, … A run that lasts
   * longer than the period is not overlapped: the starts missed meanwhile are skipped, and the next run starts at the first such time
   * that is not before its end. So it is after the machine slept: one run, however many starts were missed.
   *
   * @throws ConfigError if `period` is below 1 ms.
   */
  static fixedRate(period: Duration, options: ScheduleOptions = {}): Schedule {
    return Schedule.of('fixedRate', period, options)
  }

  private static of(kind: Schedule['kind'], period: Duration, options: ScheduleOptions): Schedule {
    checkKeys(`Schedule.${kind}`, options, { initialDelay: true })
    const periodMs = toMs(period, `Schedule.${kind}: the ${kind === 'fixedRate' ? 'period' : 'delay'}`, 1)
    const { initialDelay = 0 } = options
    return new Schedule(kind, periodMs, toMs(initialDelay, `Schedule.${kind}: initialDelay`))
  }

  /** When the next run starts, for a first start at `first` and a last run that started at `planned` and ended at `ended`. */
  nextStart(first: number, planned: number, ended: number): number {
    if (this.kind === 'fixedDelay') return ended + this.periodMs
    const periods = Math.ceil((ended - first) / this.periodMs)
    return Math.max(planned + this.periodMs, first + periods * this.periodMs)
  }
}

export interface ScheduleOptions {
  /** From the term's start to the first run. Default 0. */
  readonly initialDelay?: Duration
}
