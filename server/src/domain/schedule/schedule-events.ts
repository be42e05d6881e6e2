// The events of a schedule. Imports no schemas, so that store threads can use it.

import type { SchedulePause } from '@jobcast/contract'
import { toInstant } from '@jobcast/contract/words'
import { service } from '../access/principal.ts'
import type { WallInstant } from '../common/instants.ts'
import type { ScheduleChange, ScheduleEvent, StoredSchedule } from './ports/schedules.ts'

type Fired = { scheduledFor: WallInstant; runId: number | null; matched: number; skipped: number }
/** Why it is paused, for people and for programs. */
export type PausedFor = { because: string } & Partial<SchedulePause> & Pick<SchedulePause, 'rule'>

const notCounted = { stopRule: null, on: [], count: null, ended: null, percent: null }

type Missed = { count: number; isMore: boolean; from: WallInstant; to: WallInstant; because: string }

export function firedEvent(
  { scheduleName, jobName }: StoredSchedule,
  { scheduledFor, ...fired }: Fired,
  principal = service,
): ScheduleEvent {
  const data = { scheduleName, jobName, scheduledFor: toInstant(scheduledFor), ...fired, principal }
  return { type: 'schedule.fired', data }
}

export function missedEvent({ scheduleName, jobName }: StoredSchedule, missed: Missed): ScheduleEvent {
  const { count, isMore, from, to, because } = missed
  const span = { count, isMore, from: toInstant(from), to: toInstant(to) }
  return { type: 'schedule.missed', data: { scheduleName, jobName, ...span, because, principal: service } }
}

/** Pauses the schedule; a run that is being created is finished first. */
export function pausedEvent(
  { scheduleName, jobName, occurrence, dueAt }: StoredSchedule,
  { because, ...cause }: PausedFor,
  principal: string,
  at: WallInstant,
): Required<Pick<ScheduleChange, 'set' | 'events'>> {
  const { rule } = cause
  return {
    set: {
      pausedBecause: because,
      pausedBy: rule === 'STOP_RULE' ? 'stop rule' : principal,
      pausedAt: at,
      pausedCause: { ...notCounted, ...cause },
      nextFor: null,
      dueAt: occurrence ? dueAt : null,
      handledAt: at,
    },
    events: [{ type: 'schedule.paused', data: { scheduleName, jobName, because, rule, principal } }],
  }
}

export function jobDeleted(jobName: string): PausedFor {
  return { rule: 'JOB_DELETED', because: `the job ${jobName} was deleted` }
}

/** `keyName`: the key that was revoked; it may be the creator of the key that put the schedule. */
export function keyRevoked(keyName: string): string {
  return `the key ${keyName} was revoked with its descendants`
}
