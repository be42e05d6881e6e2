// A device gets its full timeout from the moment its start is on disk. So a report is stamped when its group is written, not
// when it arrives; and after a slow commit, because of locks or a slow disk, the timers of started executions are delayed
// by as much before the devices are answered.

import { laterBy } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { WriteOptions } from '../trigger/ports/write-options.ts'
import type { DeviceReport, ReportOutcome } from './device-report.ts'
import type { Moment } from './execution.ts'

export type StampDeps = { store: Pick<Store, 'recordReports' | 'delayTimeouts'>; moment: () => Moment }

/** A shorter commit is not worth another write: timers fire within two seconds of their time anyway. */
const toleratedMs = 200
/** The write that delays the timers may be slow as well. */
const mostTries = 3

export async function recordStamped(
  deps: StampDeps,
  reports: DeviceReport[],
  options?: WriteOptions,
): Promise<ReportOutcome[]> {
  const moment = deps.moment()
  const outcomes = await deps.store.recordReports(
    reports.map((report) => ({ ...report, moment })),
    options,
  )
  return deps.moment().clock - moment.clock > toleratedMs ? delayTimeouts(deps, outcomes, moment) : outcomes
}

async function delayTimeouts(
  { store, moment }: StampDeps,
  outcomes: ReportOutcome[],
  { at: startedAt, clock }: Moment,
): Promise<ReportOutcome[]> {
  const jobExecutionIds = outcomes.filter(isTimedStart).map(({ execution }) => execution.jobExecutionId)
  if (jobExecutionIds.length === 0) return outcomes
  let delayedMs = 0
  try {
    for (let tries = 0; tries < mostTries; tries++) {
      const byMs = moment().clock - clock - delayedMs
      if (byMs <= toleratedMs) break
      await store.delayTimeouts({ jobExecutionIds, startedAt, byMs })
      delayedMs += byMs
    }
  } catch {
    // The start itself is on disk, so the device gets its response.
  }
  return outcomes.map((outcome) => (isTimedStart(outcome) ? delayed(outcome, delayedMs) : outcome))
}

type Done = Extract<ReportOutcome, { kind: 'done' }>

function isTimedStart(outcome: ReportOutcome): outcome is Done {
  if (outcome.kind !== 'done' || outcome.execution.timesOutAt === null) return false
  return outcome.moved?.from === 'PENDING' && outcome.moved.execState === 'IN_PROGRESS'
}

function delayed(outcome: Done, ms: number): Done {
  const { timesOutAt } = outcome.execution
  if (timesOutAt === null) return outcome
  return { ...outcome, execution: { ...outcome.execution, timesOutAt: laterBy(ms, timesOutAt) } }
}
