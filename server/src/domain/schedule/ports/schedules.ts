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

/** With its defaults. */
export type StoredScheduleContent = {
  description: string | null
  /** Version of the job; null: each run uses the current one. */
  version: number | null
  /** Of the job's parameters, none of them secret. */
  parameters?: Record<string, unknown>
  targets: Targets
  when: StoredWhen
  rollout: Rollout | null
  approval: Approval
  /** Left out: that of the job. */
  window?: string
  /** The same. */
  priority?: number
  /** Its runs replace what waits of the job on their devices. */
  replaces?: true
  overlap: Overlap
  catchUpSeconds: number
  jitterSeconds: number
  pauseAfterFailures: number | null
  /** Left out if there are none. */
  except?: string[]
  until: WallInstant | null
  /** The key that put it so, even if another one has resumed it since; left out by what was stored before. */
  putBy?: string
}

/** A run that is being made: whoever finds it finishes it, so that nothing is lost or made twice. */
export type Firing = {
  for: WallInstant
  /** Who asked for it; null: its time had come. */
  principal: string | null
  /** Which process is at it, and since when. */
  by: string
  since: SteadyInstant
  /** Of a schedule with match: up to which event devices are looked at, and by which selector. */
  match?: { upTo: number; where: string | null }
}

export type ScheduleKey = { ownerNo: number; scheduleName: string }

/** What had ended of runs that went on when it was resumed; of those up to `failuresAfter`, only these are counted. */
export type StopBaseline = {
  runs: { runId: number; counts: EndedCounts }[]
  /** Runs that a stop rule of the schedule holds go on. */
  letsGo: boolean
}

/** What changes while it runs. */
export type ScheduleState = {
  /** The next occurrence. */
  nextFor: WallInstant | null
  /** When to look at it. */
  dueAt: WallInstant | null
  /** When `nextFor` was decided. */
  handledAt: WallInstant
  firing: Firing | null
  lastFor: WallInstant | null
  lastFiredAt: WallInstant | null
  lastRunId: number | null
  /** The run whose end decides how many failed in a row. */
  watchedRunId: number | null
  failures: number
  /** Runs up to this one are not counted as failures any more. */
  failuresAfter: number
  pausedBecause: string | null
  pausedBy: string | null
  pausedAt: WallInstant | null
  pausedCause: SchedulePause | null
  /** With match, since somebody resumed it: what stop rules do not count any more. */
  stopBaseline: StopBaseline | null
  /** With match: up to which event of devices it has looked. */
  cursor: number
  /** With match: for which selector, with its groups replaced, all devices were looked at. */
  matchedWhere: string | null
}

export type StoredSchedule = ScheduleKey &
  ScheduleState & {
    scheduleNo: number
    jobName: string
    content: StoredScheduleContent
    /** Who put it last. */
    keyId: string
    createdAt: WallInstant
    updatedAt: WallInstant
    /** Another one after each change. */
    version: number
  }

export type SchedulePut = ScheduleKey &
  Expectation & {
    /** Of a new one. */
    scheduleNo: number
    jobName: string
    content: StoredScheduleContent
    keyId: string
    at: WallInstant
    /** Of a new one, and of one whose times have changed. */
    times: Pick<ScheduleState, 'nextFor' | 'dueAt'>
    /** Also if nothing else changes, it is this key's from now on. */
    takesOver?: boolean
    most: number
    /** Of those that run as soon as a device matches; 0: any number. */
    mostMatching: number
  }

export type ScheduleEvent = { type: EventTypeOf<'schedule'>; data: EventDataOf<'schedule'> }

export type ScheduleChange = {
  /** As it was read: whoever changed it since is not overruled. */
  before: StoredSchedule
  /** `keyId`: whose it is from now on. */
  set: Partial<ScheduleState> & { keyId?: string }
  events?: ScheduleEvent[]
  at: WallInstant
}

export type RunRange = { runId: number; first: number; last: number }

/** An execution of a schedule that has not ended. */
export type BusyDevice = { deviceNo: number; jobExecutionId: number; execState: ExecState }

/** `names`: of what has changed; undefined: anything. */
export type DeviceChanged = { eventId: number; deviceNo: number; names: string[] | undefined }

/** An execution of a schedule that has ended, or waits (again); `cause`: of the event. */
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
   * Of the owner's devices behind that event, in order; all up to `upTo` were looked at. `isLost`: they are not known any
   * more, or too many to be looked at one by one. `moves`: of executions of schedules, if they are wanted; `count`: of all
   * that was read.
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
  /** Those that there are, as selectors see them. */
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
  /** Some of those that are due by then, of all owners. */
  listDueSchedules(due: { by: WallInstant; limit: number }): Promise<StoredSchedule[]>
  /** Some of those that were decided on after then: the clock was set back since. */
  listSchedulesAhead(ahead: { of: WallInstant; limit: number }): Promise<StoredSchedule[]>
  /** Some of those whose watched run has ended. */
  listJudgedSchedules(some: { limit: number }): Promise<StoredSchedule[]>
  /** Those that give each device their job once and are not paused, of all owners. */
  listMatchSchedules(): Promise<StoredSchedule[]>
  /** False: it was changed since it was read, and nothing happened. */
  changeSchedule(change: ScheduleChange): Promise<boolean>
  /** Several, of different schedules, in one write: the same of each of them. */
  changeSchedules(changes: ScheduleChange[]): Promise<boolean[]>
  /** The run that was made for this occurrence. */
  findScheduledRun(occurrence: { scheduleNo: number; scheduledFor: WallInstant }): Promise<number | undefined>
  /** The latest runs that have ended behind that one, newest first. */
  listScheduledEnds(runs: { scheduleNo: number; after: number; limit: number }): Promise<StateCounts[]>
  /** Of each of these: all that it has made since then and behind `failuresAfter`, together. */
  countScheduled(counted: {
    scheduleNos: number[]
    since: WallInstant
  }): Promise<(StateCounts & { scheduleNo: number })[]>
  /** Some of its runs that have not ended, the newest first. */
  listUnfinishedCounts(runs: {
    ownerNo: number
    scheduleNo: number
    limit: number
  }): Promise<(StateCounts & { runId: number })[]>
  /** Those of these runs that were made since then. */
  listRunCounts(runs: {
    ownerNo: number
    runIds: number[]
    since: WallInstant
  }): Promise<(StateCounts & { runId: number })[]>
  /** Its runs that have not ended, and where their executions are. */
  listBusyRuns(busy: { ownerNo: number; scheduleNo: number }): Promise<RunRange[]>
  /** Those of these executions that have not ended, in order. */
  listBusyDevices(busy: { first: number; last: number; limit: number }): Promise<BusyDevice[]>
  /** Cancels those of them that wait. */
  supersede(executions: { jobExecutionIds: number[]; moment: Moment; actor: string }): Promise<Moved[]>
  /** Where the executions of a run are. */
  getRunRange(run: { runId: number }): Promise<RunRange | undefined>
}
