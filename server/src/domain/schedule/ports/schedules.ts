// The part of the store's port for schedules, under the rules of store.ts.

import type {
  Again,
  Approval,
  EventDataOf,
  EventTypeOf,
  ExecState,
  Overlap,
  Rollout,
  SchedulePause,
  Targets,
} from '@jobcast/contract'
import type { SelectableDevice } from '@jobcast/contract/selector'
import type { Expectation } from '../../common/entity-tag.ts'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'
import type { EndedCounts } from '../../rollout/gate.ts'
import type { StateCounts } from '../../rollout/ports/rollouts.ts'

export type StoredWhen =
  | { kind: 'cron'; cron: string; timeZone: string }
  | { kind: 'at'; at: WallInstant }
  | { kind: 'match'; again?: Again; backOffSeconds?: number; onLeave?: 'CANCEL' }

/** With defaults applied. */
export type StoredScheduleContent = {
  description: string | null
  /** Version of the job; null: each run uses the current one. */
  version: number | null
  /** Values of the job's parameters, none of them secret. */
  parameters?: Record<string, unknown>
  targets: Targets
  when: StoredWhen
  rollout: Rollout | null
  approval: Approval
  /** Undefined: the job's window. */
  window?: string
  /** Undefined: the job's priority. */
  priority?: number
  /** Its runs replace PENDING executions of the job on their devices. */
  replaces?: true
  overlap: Overlap
  catchUpSeconds: number
  jitterSeconds: number
  pauseAfterFailures: number | null
  /** Undefined if there are none. */
  except?: string[]
  until: WallInstant | null
  /** The key that put this content, even if another key has resumed it since; undefined in rows of older versions. */
  putBy?: string
}

/** An occurrence that is being fired. Any process that finds it finishes it, so no run is lost or created twice. */
export type StartedOccurrence = {
  for: WallInstant
  /** Who requested it; null: it was due. */
  principal: string | null
  /** The process that works on it, and since when. */
  by: string
  since: SteadyInstant
  /** With `match`: up to which event devices are covered, and by which selector. */
  match?: { upTo: number; where: string | null }
}

export type ScheduleKey = { ownerNo: number; scheduleName: string }

/** Ended counts of the runs that were unfinished when it was resumed; of runs up to `failuresAfter`, only these count. */
export type StopBaseline = {
  runs: { runId: number; counts: EndedCounts }[]
  /** Runs that a stop rule of the schedule has paused are to be resumed. */
  letsGo: boolean
}

/** The part that changes while it runs. */
export type ScheduleState = {
  /** The next occurrence. */
  nextFor: WallInstant | null
  /** When to fire or continue it. */
  dueAt: WallInstant | null
  /** When `nextFor` was decided. */
  handledAt: WallInstant
  occurrence: StartedOccurrence | null
  lastFor: WallInstant | null
  lastFiredAt: WallInstant | null
  lastRunId: number | null
  /** The run whose end updates the count of failures in a row. */
  watchedRunId: number | null
  failures: number
  /** Runs up to this one no longer count as failures. */
  failuresAfter: number
  pausedBecause: string | null
  pausedBy: string | null
  pausedAt: WallInstant | null
  pausedCause: SchedulePause | null
  /** With `match`, once it was resumed: what stop rules no longer count. */
  stopBaseline: StopBaseline | null
  /** With `match`: the last device event that was processed. */
  cursor: number
  /** With `match`: digest of the selector that all devices were last compared with. */
  matchedWhere: string | null
}

export type StoredSchedule = ScheduleKey &
  ScheduleState & {
    scheduleNo: number
    jobName: string
    content: StoredScheduleContent
    /** The key that put or resumed it last. */
    keyId: string
    createdAt: WallInstant
    updatedAt: WallInstant
    /** Incremented by each change. */
    version: number
  }

export type SchedulePut = ScheduleKey &
  Expectation & {
    /** For a new schedule. */
    scheduleNo: number
    jobName: string
    content: StoredScheduleContent
    keyId: string
    at: WallInstant
    /** For a new schedule, or one whose times have changed. */
    times: Pick<ScheduleState, 'nextFor' | 'dueAt'>
    /** The schedule moves to this key even if nothing else changes. */
    takesOver?: boolean
    most: number
    /** Maximum of schedules with `match`; 0: no limit. */
    mostMatching: number
  }

export type ScheduleEvent = { type: EventTypeOf<'schedule'>; data: EventDataOf<'schedule'> }

export type ScheduleChange = {
  /** As it was read: nothing is written if the schedule has changed since. */
  before: StoredSchedule
  /** `keyId`: the key that it moves to. */
  set: Partial<ScheduleState> & { keyId?: string }
  events?: ScheduleEvent[]
  at: WallInstant
}

export type RunRange = { runId: number; first: number; last: number }

/** An unfinished execution of a schedule. */
export type BusyDevice = { deviceNo: number; jobExecutionId: number; execState: ExecState }

/** `names`: attributes that have changed; undefined: anything may have. */
export type DeviceChanged = { eventId: number; deviceNo: number; names: string[] | undefined }

/** An execution of a schedule that has ended, or is PENDING (again). `cause`: from the event. */
export type ScheduledMove = {
  eventId: number
  scheduleNo: number
  deviceNo: number
  jobExecutionId: number
  isEnd: boolean
  cause: string | null
}

export type ScheduleStore = {
  /**
   * Changes of the owner's devices after that event, in order, up to and including event `upTo`. `isLost`: the events were
   * purged, or are too many to process one by one. `moves`: of executions of schedules, if requested. `count`: events read.
   */
  listDeviceChanges(changes: {
    ownerNo: number
    after: number
    limit: number
    withMoves?: boolean
  }): Promise<{
    changes: DeviceChanged[]
    moves: ScheduledMove[]
    count: number
    upTo: number
    isMore: boolean
    isLost: boolean
  }>
  /** Those of the devices that exist, as selectors see them. */
  listSelectable(devices: {
    ownerNo: number
    deviceNos: number[]
  }): Promise<(SelectableDevice & { deviceNo: number })[]>
  putSchedule(
    put: SchedulePut,
  ): Promise<
    | ({ kind: 'put' } & Put<StoredSchedule>)
    | { kind: 'too-many' | 'too-many-matching' | 'unknown-window' | 'key-revoked' | 'not-expected' }
  >
  getSchedule(schedule: ScheduleKey): Promise<StoredSchedule | undefined>
  listSchedules(list: OwnerList<string>): Promise<Sliced<StoredSchedule, string>>
  deleteSchedule(schedule: ScheduleKey & { principal: string; at: WallInstant }): Promise<boolean>
  /** A batch of schedules that are due by then, of all owners. */
  listDueSchedules(due: { by: WallInstant; limit: number }): Promise<StoredSchedule[]>
  /** A batch of schedules whose next occurrence was computed later than that: the clock was set back since. */
  listSchedulesAhead(ahead: { of: WallInstant; limit: number }): Promise<StoredSchedule[]>
  /** A batch of schedules whose watched run has ended. */
  listJudgedSchedules(some: { limit: number }): Promise<StoredSchedule[]>
  /** Schedules with `match` that are not paused, of all owners. */
  listMatchSchedules(): Promise<StoredSchedule[]>
  /** False: the schedule has changed since it was read, and nothing was written. */
  changeSchedule(change: ScheduleChange): Promise<boolean>
  /** The same for several schedules in one write. */
  changeSchedules(changes: ScheduleChange[]): Promise<boolean[]>
  /** The run of this occurrence; undefined: none. */
  findScheduledRun(occurrence: { scheduleNo: number; scheduledFor: WallInstant }): Promise<number | undefined>
  /** The latest ended runs after that one, newest first. */
  listScheduledEnds(runs: { scheduleNo: number; after: number; limit: number }): Promise<StateCounts[]>
  /** For each schedule: the counts of all its runs created since then and after `failuresAfter`, added up. */
  countScheduled(counted: {
    scheduleNos: number[]
    since: WallInstant
  }): Promise<(StateCounts & { scheduleNo: number })[]>
  /** A batch of its unfinished runs, newest first. */
  listUnfinishedCounts(runs: {
    ownerNo: number
    scheduleNo: number
    limit: number
  }): Promise<(StateCounts & { runId: number })[]>
  /** Those of the runs that were created since then. */
  listRunCounts(runs: {
    ownerNo: number
    runIds: number[]
    since: WallInstant
  }): Promise<(StateCounts & { runId: number })[]>
  /** Its unfinished runs, with the id ranges of their executions. */
  listBusyRuns(busy: { ownerNo: number; scheduleNo: number }): Promise<RunRange[]>
  /** The unfinished executions of this id range, in order. */
  listBusyDevices(busy: { first: number; last: number; limit: number }): Promise<BusyDevice[]>
  /** Cancels those that are PENDING. */
  supersede(executions: { jobExecutionIds: number[]; moment: Moment; actor: string }): Promise<Moved[]>
  /** The id range of a run's executions. */
  getRunRange(run: { runId: number }): Promise<RunRange | undefined>
}
