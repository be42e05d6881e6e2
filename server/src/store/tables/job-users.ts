// Users of a job: schedules, and runs with waiting executions.

import { namedUsers } from '../../domain/common/in-use.ts'
import type { JobKey, JobUsers } from '../../domain/job/ports/jobs.ts'
import { inBoth, type Queries } from '../queries.ts'
import { select } from '../schema/column.ts'
import { run, schedule } from '../schema/tables.ts'
import { OF_JOB, unfinishedOn } from './run-fields.ts'
import type { ReadSteps } from './step.ts'

const SCHEDULE = select(schedule.pick('scheduleName'))
const SCHEDULES = `
  SELECT ${SCHEDULE} FROM schedule WHERE owner_no = :ownerNo AND job_name = :jobName
  ORDER BY schedule_name LIMIT ${namedUsers + 1}` as const
const RUN = select(run.pick('runId'))
const RUNS = inBoth(
  ({ is, by }) => `
  SELECT ${RUN} FROM run ${by('run_unfinished')}
  WHERE run.owner_no = :ownerNo AND ${unfinishedOn[is]} AND ${run.fields.PENDING.sql} > 0 AND ${OF_JOB}
  ORDER BY run.run_id LIMIT ${namedUsers + 1}`,
)

export const jobUserReads: ReadSteps<'findJobUsers'> = { findJobUsers }

export async function findJobUsers(
  queries: Queries,
  { ownerNo, jobName }: JobKey,
): Promise<JobUsers | undefined> {
  const schedules = await queries.all(SCHEDULE, SCHEDULES, { ownerNo, jobName })
  const runs = await queries.all(RUN, RUNS, { ownerNo, jobName })
  if (schedules.length + runs.length === 0) return undefined
  return {
    scheduleNames: schedules.map(({ scheduleName }) => scheduleName),
    runIds: runs.map(({ runId }) => runId),
  }
}
