// Schedules in a fleet file.

import {
  exceptProblem,
  type Rollout,
  requiredApprovals,
  rolloutProblem,
  type ScheduleContent,
  schedules,
  toApproval,
} from '@jobcast/contract'
import { type Fields, kindOf } from './kind.ts'

export const scheduleKind = kindOf(schedules, {
  refusal(_name, { when, rollout, except }) {
    const { cron, at, match } = when as ScheduleContent['when']
    const given = [cron, at, match].filter((each) => each !== undefined)
    if (given.length !== 1) return 'when must have exactly one of cron, at and match'
    const wrongDate = exceptProblem((except ?? []) as string[])
    if (wrongDate) return wrongDate.detail
    return rollout === undefined ? undefined : rolloutProblem(rollout as Rollout)?.detail
  },
  filled: (_name, content) => ({
    jobName: content.jobName,
    targets: content.targets,
    when: filledWhen(content.when as ScheduleContent['when']),
    version: content.version ?? null,
    parameters: content.parameters ?? {},
    description: content.description ?? null,
    rollout: content.rollout ?? null,
    approval: toApproval(requiredApprovals(content.approval as ScheduleContent['approval'])),
    window: content.window ?? null,
    priority: content.priority ?? null,
    replaces: content.replaces ?? false,
    overlap: content.overlap ?? 'SKIP',
    catchUpSeconds: content.catchUpSeconds ?? 3600,
    jitterSeconds: content.jitterSeconds ?? 0,
    pauseAfterFailures: content.pauseAfterFailures ?? null,
    except: content.except ?? [],
    until: typeof content.until === 'string' ? inUtc(content.until) : null,
  }),
})

function filledWhen({ cron, timeZone = 'UTC', at, match }: ScheduleContent['when']): Fields {
  if (cron !== undefined) return { cron, timeZone }
  return at === undefined ? { match } : { at: inUtc(at) }
}

/** As the server shows it. */
function inUtc(instant: string): string {
  return new Date(instant).toISOString()
}
