// Stored schedules -> API objects, field by field: a spread could leak a new column.

import { matchOf, type Schedule, toInstant, toInstantOrNull, type When } from '@jobcast/contract'
import { principalOf } from '../../domain/access/principal.ts'
import type { StoredWhen } from '../../domain/schedule/ports/schedules.ts'
import type { ScheduleView } from '../../domain/schedule/view-schedule.ts'
import { toFailing } from './failing-to-wire.ts'

export function toSchedule({ schedule: stored, keyNames, failing }: ScheduleView): Schedule {
  const { content } = stored
  const updatedBy = principalOf(stored)
  return {
    scheduleName: stored.scheduleName,
    jobName: stored.jobName,
    targets: content.targets,
    when: toWhen(content.when),
    version: content.version,
    parameters: content.parameters ?? {},
    description: content.description,
    rollout: content.rollout,
    approval: content.approval,
    window: content.window ?? null,
    priority: content.priority ?? null,
    replaces: content.replaces ?? false,
    overlap: content.overlap,
    catchUpSeconds: content.catchUpSeconds,
    jitterSeconds: content.jitterSeconds,
    pauseAfterFailures: content.pauseAfterFailures,
    except: content.except ?? [],
    until: toInstantOrNull(content.until),
    paused: stored.pausedAt !== null,
    pausedBecause: stored.pausedBecause,
    pausedBy: stored.pausedBy,
    pausedByName: keyNames(stored.pausedBy)?.keyName ?? null,
    pausedAt: toInstantOrNull(stored.pausedAt),
    pausedCause: stored.pausedCause,
    nextAt: toInstantOrNull(stored.nextFor),
    lastScheduledFor: toInstantOrNull(stored.lastFor),
    lastFiredAt: toInstantOrNull(stored.lastFiredAt),
    lastRunId: stored.lastRunId,
    failures: stored.failures,
    failing: toFailing(failing),
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
    updatedBy,
    updatedByName: keyNames(updatedBy)?.keyName ?? null,
    updatedByState: keyNames(updatedBy)?.keyState ?? null,
  }
}

function toWhen(when: StoredWhen): When {
  switch (when.kind) {
    case 'cron':
      return { cron: when.cron, timeZone: when.timeZone }
    case 'at':
      return { at: toInstant(when.at) }
    case 'match':
      return matchOf(when)
  }
}
