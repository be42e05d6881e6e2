// Stored schedules -> API objects, field by field: a spread could leak a new column.

import { type Schedule, toInstant, toInstantOrNull, type When } from '@jobcast/contract'
import type { Failing } from '../domain/ports/failing-tasks.ts'
import type { StoredSchedule, StoredWhen } from '../domain/ports/schedules.ts'
import { principalOf } from '../domain/principal.ts'
import { type FailingDeps, readFailing } from '../domain/read-failing.ts'
import { toFailing } from './failing-to-wire.ts'

export function toSchedule(stored: StoredSchedule, failing: Failing | null): Schedule {
  const { content } = stored
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
    overlap: content.overlap,
    catchUpSeconds: content.catchUpSeconds,
    jitterSeconds: content.jitterSeconds,
    pauseAfterFailures: content.pauseAfterFailures,
    until: toInstantOrNull(content.until),
    paused: stored.pausedAt !== null,
    pausedBecause: stored.pausedBecause,
    pausedBy: stored.pausedBy,
    pausedAt: toInstantOrNull(stored.pausedAt),
    nextAt: toInstantOrNull(stored.nextFor),
    lastScheduledFor: toInstantOrNull(stored.lastFor),
    lastFiredAt: toInstantOrNull(stored.lastFiredAt),
    lastRunId: stored.lastRunId,
    failures: stored.failures,
    failing: toFailing(failing),
    createdAt: toInstant(stored.createdAt),
    updatedAt: toInstant(stored.updatedAt),
    updatedBy: principalOf(stored),
  }
}

export async function toSchedules(deps: FailingDeps, stored: StoredSchedule[]): Promise<Schedule[]> {
  const failing = await readFailing(
    deps,
    'schedule',
    stored.map(({ scheduleNo }) => scheduleNo),
  )
  return stored.map((each) => toSchedule(each, failing.get(each.scheduleNo) ?? null))
}

export async function answerSchedule(deps: FailingDeps, stored: StoredSchedule): Promise<Schedule> {
  const { scheduleNo } = stored
  return toSchedule(stored, (await readFailing(deps, 'schedule', [scheduleNo])).get(scheduleNo) ?? null)
}

function toWhen(when: StoredWhen): When {
  switch (when.kind) {
    case 'cron':
      return { cron: when.cron, timeZone: when.timeZone }
    case 'at':
      return { at: toInstant(when.at) }
    case 'match':
      return { match: true }
  }
}
