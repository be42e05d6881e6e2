import { type ExecState, execStates } from '@jobcast/contract/words'
import { unsuccessfulEnds } from '../../domain/execution.ts'
import type { StoredRun } from '../../domain/ports/runs.ts'
import { inBoth, type Sql, sliced } from '../queries.ts'
import { type Field, orNull, select } from '../schema/column.ts'
import { device, job, run, runRequest } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

/** How many executions of a run are in each state. */
export const countFields: Record<ExecState, Field<number>> = pickCounts(run.fields)

/** Of a run that is created; all of it is PENDING. */
export const newRunFields = {
  ...run.pick('runId', 'ownerNo', 'jobNo', 'jobVersion', 'launchedAt', 'firstExecutionId', 'total'),
  ...run.pick('PENDING', 'expireAt', 'deadlineAt', 'keyId', 'retryOf'),
}

const RUN = select({
  ...run.pick('runId', 'jobVersion', 'launchedAt', 'total', 'retryOf'),
  ...job.pick('jobName'),
  ...runRequest.pick('where', 'matched', 'note'),
  ...countFields,
})
export const OF_JOB =
  'run.job_no = (SELECT job_no FROM job WHERE owner_no = :ownerNo AND job_name = :jobName)'
// The conditions by which the index of unfinished runs is found.
export const unfinishedOn = {
  sqlite: 'run.pending + run.in_progress + run.canceling > 0',
  postgres: 'NOT run.ended',
}
const GET = of('run.owner_no = :ownerNo AND run.run_id = :runId')
const listOf = (filter: string, isUnfinished?: boolean) =>
  of(
    `run.owner_no = :ownerNo AND run.run_id < :after ${filter}`,
    isUnfinished,
    'ORDER BY run.run_id DESC LIMIT :limit',
  )
const LISTS = {
  ofOwner: { all: listOf(''), ended: listOf('', false), open: listOf('', true) },
  // What has not ended is rare among what a job has run: it is found by its own index.
  ofJob: {
    all: listOf(`AND ${OF_JOB}`),
    ended: listOf(`AND ${OF_JOB}`, false),
    open: listOf('AND job_name = :jobName', true),
  },
}
const UNSUCCESSFUL = select({ ...job.pick('jobName'), deviceId: orNull(device.fields.deviceId) })
const LIST_UNSUCCESSFUL = `
  SELECT ${UNSUCCESSFUL} FROM run JOIN job ON job.job_no = run.job_no
    LEFT JOIN execution ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
      AND state IN (${unsuccessfulEnds.map((state) => `'${state}'`).join(', ')})
    LEFT JOIN device ON device.device_no = execution.device_no AND device.deleted_at IS NULL
  WHERE run.owner_no = :ownerNo AND run.run_id = :runId ORDER BY execution_id`

export const runReads: ReadSteps<'getRun' | 'listRuns' | 'listUnsuccessful'> = {
  async getRun(queries, { ownerNo, runId }) {
    const row = await queries.get(RUN, GET, { ownerNo, runId })
    return row && toRun(row)
  },
  async listRuns(queries, { ownerNo, filter: { jobName, finished }, slice }) {
    const { after = Number.MAX_SAFE_INTEGER, limit } = slice
    const lists = jobName === undefined ? LISTS.ofOwner : LISTS.ofJob
    const sql = finished === undefined ? lists.all : finished ? lists.ended : lists.open
    const found = await queries.all(RUN, sql, { ownerNo, jobName, after, limit: limit + 1 })
    return sliced(found.map(toRun), limit, ({ runId }) => runId)
  },
  async listUnsuccessful(queries, { ownerNo, runId }) {
    const found = await queries.all(UNSUCCESSFUL, LIST_UNSUCCESSFUL, { ownerNo, runId })
    // A run without any is one row without a device.
    const deviceIds = found.flatMap(({ deviceId }) => deviceId ?? [])
    return found[0] && { jobName: found[0].jobName, deviceIds }
  },
}

export function toRun(row: ReturnType<typeof RUN.read>): StoredRun {
  const { runId, jobName, jobVersion, launchedAt, total, retryOf, where, matched, note } = row
  const asked = { where, matched, note }
  return { runId, jobName, jobVersion, launchedAt, total, retryOf, ...asked, counts: pickCounts(row) }
}

export function pickCounts<Value>(row: Record<ExecState, Value>): Record<ExecState, Value> {
  return Object.fromEntries(execStates.map((state) => [state, row[state]])) as Record<ExecState, Value>
}

function of(where: string, isUnfinished?: boolean, order = ''): Sql {
  return inBoth(({ is, join }) => {
    const unfinished = unfinishedOn[is]
    const which =
      isUnfinished === undefined ? '' : isUnfinished ? `AND ${unfinished}` : `AND NOT (${unfinished})`
    return `SELECT ${RUN} FROM run ${join} job ON job.job_no = run.job_no
      LEFT JOIN run_request ON run_request.run_id = run.run_id WHERE ${where} ${which} ${order}`
  })
}
