// Schedules in a fleet file.

import {
  exceptProblem,
  matchOf,
  type Rollout,
  requiredApprovals,
  rolloutProblem,
  type ScheduleContent,
  schedules,
  toApproval,
  whenProblem,
} from '@jobcast/contract'
import { type Fields, kindOf } from './kind.ts'

export const scheduleKind = kindOf(schedules, {
  refusal(_name, { when, rollout, except, overlap }) {
    const wrongWhen = whenProblem(when as ScheduleContent['when'], overlap as ScheduleContent['overlap'])
    if (wrongWhen) return wrongWhen.detail
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

function filledWhen({ cron, timeZone = 'UTC', at, ...match }: ScheduleContent['when']): Fields {
  if (cron !== undefined) return { cron, timeZone }
  return at === undefined ? matchOf(match) : { at: inUtc(at) }
}

/** The format of the server. */
function inUtc(instant: string): string {
  return new Date(instant).toISOString()
}
