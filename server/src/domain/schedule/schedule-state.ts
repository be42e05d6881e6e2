import type { WallInstant } from '../common/instants.ts'
import type { ScheduleState } from './ports/schedules.ts'

/** The state of a new schedule. */
export function newScheduleState(
  times: Pick<ScheduleState, 'nextFor' | 'dueAt'>,
  at: WallInstant,
): ScheduleState {
  return {
    ...times,
    handledAt: at,
    occurrence: null,
    lastFor: null,
    lastFiredAt: null,
    lastRunId: null,
    watchedRunId: null,
    failures: 0,
    failuresAfter: 0,
    pausedBecause: null,
    pausedBy: null,
    pausedAt: null,
    pausedCause: null,
    stopBaseline: null,
    cursor: 0,
    matchedWhere: null,
  }
}
