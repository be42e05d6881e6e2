// The part of the store's port for schedules, under the rules of store.ts.

import type {
  ExecState,
  Overlap,
  Rollout,
  ScheduleEventData,
  ScheduleEventType,
  Targets,
} from '@jobcast/contract'
import type { Moment } from '../execution.ts'
import type { SteadyInstant, WallInstant } from '../instants.ts'
import type { Moved } from './executions.ts'
import type { StateCounts } from './rollouts.ts'
import type { OwnerList, Put, Sliced } from './slices.ts'

export type StoredWhen =
  | { kind: 'cron'; cron: string; timeZone: string }
  | { kind: 'at'; at: WallInstant }
  | { kind: 'match' }

/** With its defaults. */
export type StoredScheduleContent = {
  description: string | null
  targets: Targets
  when: StoredWhen
  rollout: Rollout | null
  approval: boolean
  overlap: Overlap
  catchUpSeconds: number
  jitterSeconds: number
  pauseAfterFailures: number | null
  until: WallInstant | null
}

/** A run that is being made: whoever finds it finishes it, so that nothing is lost or made twice. */
export type Firing = {
  for: WallInstant
  /** Who asked for it; null: its time had come. */
  principal: string | null
  /** Which process is at it, and since when. */
  by: string
  since: SteadyInstant
  /** Of a schedule with match: up to which event devices are looked at, by which selector, and whether at all devices. */
  match?: { upTo: number; where: string; isSweep: boolean }
}

export type ScheduleKey = { ownerNo: number; scheduleName: string }

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

export type SchedulePut = ScheduleKey & {
  /** Of a new one. */
  scheduleNo: number
  jobName: string
  content: StoredScheduleContent
  keyId: string
  at: WallInstant
  /** Of a new one, and of one whose times have changed. */
  times: Pick<ScheduleState, 'nextFor' | 'dueAt'>
  most: number
}

export type ScheduleEvent = { type: ScheduleEventType; data: ScheduleEventData }

export type ScheduleChange = {
  /** As it was read: whoever changed it since is not overruled. */
  before: StoredSchedule
  set: Partial<ScheduleState>
  events?: ScheduleEvent[]
  at: WallInstant
}

/** An execution of a schedule that has not ended. */
export type BusyDevice = { deviceNo: number; jobExecutionId: number; execState: ExecState }

export type ScheduleStore = {
  putSchedule(put: SchedulePut): Promise<({ kind: 'put' } & Put<StoredSchedule>) | { kind: 'too-many' }>
  getSchedule(schedule: ScheduleKey): Promise<StoredSchedule | undefined>
  listSchedules(list: OwnerList<string>): Promise<Sliced<StoredSchedule, string>>
  deleteSchedule(schedule: ScheduleKey): Promise<boolean>
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
  /** The run that was made for this occurrence. */
  findScheduledRun(occurrence: { scheduleNo: number; scheduledFor: WallInstant }): Promise<number | undefined>
  /** The latest runs that have ended behind that one, newest first. */
  listScheduledEnds(runs: { scheduleNo: number; after: number; limit: number }): Promise<StateCounts[]>
  /** In the order of their executions, from behind `after` on. */
  listBusyDevices(busy: {
    ownerNo: number
    scheduleNo: number
    after: number
    limit: number
  }): Promise<BusyDevice[]>
  /** Cancels those of them that wait. */
  supersede(executions: { jobExecutionIds: number[]; moment: Moment }): Promise<Moved[]>
  /** Of these devices, those that were given its job. */
  listGivenDevices(devices: { scheduleNo: number; deviceNos: number[] }): Promise<number[]>
  /** Notes those of some executions; idempotent. */
  recordGiven(given: { scheduleNo: number; first: number; last: number }): Promise<void>
  /** Where the executions of a run are. */
  getRunRange(run: { runId: number }): Promise<{ first: number; last: number } | undefined>
}
