// Runs: a run by its id, and lists of runs, newest first.

import type { Sliced } from '../../domain/common/ports/slices.ts'
import { unsuccessfulEnds } from '../../domain/execution/execution.ts'
import type { NewRun } from '../../domain/trigger/launch-run.ts'
import type { RunEnds, RunFilter, RunValues, StoredRun } from '../../domain/trigger/ports/runs.ts'
import { anyTime } from '../../domain/window/any-time.ts'
import { priorityOf, RUN_RANGE } from '../live-executions.ts'
import { inBoth, type Queries, type Sql, sliced, type Values } from '../queries.ts'
import { notNull, number, orNull, rows, select } from '../schema/column.ts'
import { apiKey, device, job, jobVersion, run, runParameters, runRequest } from '../schema/tables.ts'
import { partOf, type Written } from '../statement.ts'
import { countFields, jobValues, OF_JOB, ofJobs, pickCounts, unfinishedOn } from './run-fields.ts'
import { findStop, hasAnyOf, listFinishedAfter, runsPerSlice } from './run-walk.ts'
import type { Input, ReadSteps, WriteSteps } from './step.ts'

/** For a new run, whose executions are all PENDING. */
export const newRunFields = {
  ...run.pick('runId', 'ownerNo', 'jobNo', 'jobVersion', 'launchedAt', 'firstExecutionId', 'total'),
  ...run.pick('PENDING', 'expireAt', 'deadlineAt', 'keyId', 'retryOf'),
}

export function toRunRow(run: NewRun): Written<typeof newRunFields> {
  const { runId, ownerNo, jobNo, jobVersion, launchedAt, firstExecutionId, total } = run
  const { expireAt, deadlineAt, keyId, retryOf } = run
  const counted = { firstExecutionId, total, PENDING: total }
  return { runId, ownerNo, jobNo, jobVersion, launchedAt, ...counted, expireAt, deadlineAt, keyId, retryOf }
}

const RUN = select({
  ...run.pick('runId', 'jobVersion', 'launchedAt', 'total', 'retryOf', 'keyId', 'endedAt'),
  ...job.pick('jobName'),
  keyName: orNull(apiKey.fields.keyName),
  ...runRequest.pick('where', 'matched', 'note', 'rollbackOf', 'window', 'replaces'),
  ...{
    ...runRequest.pick('scheduleNo', 'scheduleName', 'scheduledFor'),
    priority: priorityOf('run_request'),
  },
  ...{ ...jobVersion.pick('version'), parameters: orNull(runParameters.fields.parameters) },
  ...countFields,
})
const GET = of('run.owner_no = :ownerNo AND run.run_id = :runId')
const ENDED = select({ deviceId: orNull(device.fields.deviceId) })
const listEnded = <Count extends string, Which extends string>(count: Count, which: Which) =>
  `
  SELECT ${ENDED} FROM run
    LEFT JOIN rollout ON rollout.run_id = run.run_id
    LEFT JOIN execution ON execution_id BETWEEN run.first_execution_id AND run.first_execution_id + ${count} - 1
      ${which}
    LEFT JOIN device ON device.device_no = execution.device_no AND device.deleted_at IS NULL
  WHERE run.owner_no = :ownerNo AND run.run_id = :runId ORDER BY execution_id` as const
const LIST_ENDED: Readonly<Record<RunEnds, string>> = {
  unsuccessful: listEnded(
    'run.total',
    `AND execution.state IN (${unsuccessfulEnds.map((state) => `'${state}'`).join(', ')})`,
  ),
  released: listEnded('coalesce(rollout.released, run.total)', ''),
}
const FIRST = rows({ runId: orNull(number()) })
const FIND_ROLLBACK = `
  SELECT min(run_request.run_id) AS "runId" FROM run_request JOIN run ON run.run_id = run_request.run_id
  WHERE run_request.rollback_of = :runId AND run.owner_no = :ownerNo` as const
const WAS_RELEASED = `
  SELECT count(*) AS count FROM (
    SELECT 1 FROM (
      SELECT run_id, version_no FROM run WHERE job_no = :jobNo AND run_id < :before ORDER BY run_id DESC LIMIT 10000
    ) AS earlier
    WHERE version_no = :versionNo AND NOT EXISTS (
      SELECT 1 FROM rollout WHERE rollout.run_id = earlier.run_id AND state <> 'RELEASED')
    LIMIT 1) AS released` as const
const COUNT = rows({ count: number() })
const VALUES = select(runParameters.pick('parameters', 'secrets'))
const GET_VALUES = `SELECT ${VALUES} FROM run_parameters WHERE run_id = :runId` as const

const REPLACING = select({ ...run.pick('ownerNo', 'runId'), keyId: notNull(run.fields.keyId) })
const LIST_REPLACING = inBoth(
  ({ by, join }) => `
  SELECT ${REPLACING} FROM run_request ${by('run_request_replacing')} ${join} run ON run.run_id = run_request.run_id
  WHERE replaces = 1 AND key_id IS NOT NULL AND run_request.run_id > :after AND NOT EXISTS (
    SELECT 1 FROM rollout
    WHERE rollout.run_id = run_request.run_id AND rollout.state = 'AWAITING_APPROVAL' AND rollout.released = 0)
  ORDER BY run_request.run_id LIMIT :limit`,
)
// Starts from the owner's unfinished runs, which are few.
const LIST_REPLACED = inBoth(
  ({ is, by, join }) => `
  SELECT ${RUN_RANGE} FROM run AS replacing ${join} run ${by('run_unfinished')}
    ON run.owner_no = replacing.owner_no AND run.job_no = replacing.job_no AND run.run_id < replacing.run_id
  WHERE replacing.run_id = :runId AND ${unfinishedOn[is]} ORDER BY run.run_id`,
)
const SET_REPLACED = 'UPDATE run_request SET replaces = 0 WHERE run_id = :runId'

export const runReads: ReadSteps<
  | 'listReplacing'
  | 'listReplaced'
  | 'getRun'
  | 'listRuns'
  | 'listEndedDevices'
  | 'findRollback'
  | 'wasReleased'
  | 'getRunValues'
  | 'listSealed'
> = {
  listReplacing: (queries, { after, limit }) => queries.all(REPLACING, LIST_REPLACING, { after, limit }),
  listReplaced: (queries, { runId }) => queries.all(RUN_RANGE, LIST_REPLACED, { runId }),
  async findRollback(queries, { ownerNo, runId }) {
    return (await queries.one(FIRST, FIND_ROLLBACK, { ownerNo, runId })).runId ?? undefined
  },
  async wasReleased(queries, { jobNo, versionNo, before }) {
    const { count } = await queries.one(COUNT, WAS_RELEASED, { jobNo, versionNo, before })
    return count > 0
  },
  async getRun(queries, { ownerNo, runId }) {
    const row = await queries.get(RUN, GET, { ownerNo, runId })
    return row && toRun(row)
  },
  listRuns,
  async listEndedDevices(queries, { ownerNo, runId, ends }) {
    const found = await queries.all(ENDED, LIST_ENDED[ends], { ownerNo, runId })
    // A run without executions has one row without a device.
    return found.length === 0 ? undefined : found.flatMap(({ deviceId }) => deviceId ?? [])
  },
  listSealed: (queries, { after, limit }) => queries.all(SEALED, LIST_SEALED, { after, limit }),
  getRunValues: (queries, { runId }) => queries.get(VALUES, GET_VALUES, { runId }),
}

const SEALED = select({ ...run.pick('runId', 'ownerNo'), secrets: notNull(runParameters.fields.secrets) })
const LIST_SEALED = inBoth(
  ({ join }) => `
  SELECT ${SEALED} FROM (
    SELECT run_id, secrets FROM run_parameters
    WHERE secrets IS NOT NULL AND run_id > :after ORDER BY run_id LIMIT :limit) AS run_parameters
  ${join} run ON run.run_id = run_parameters.run_id ORDER BY run_parameters.run_id`,
)
const REPLACE_SEALED =
  'UPDATE run_parameters SET secrets = :secrets WHERE run_id = :runId AND secrets = :before'

/** Runs without values have no row. */
export function hasValues(values: RunValues | undefined): values is RunValues {
  return values !== undefined && Object.keys(values.parameters).length > 0
}

export function toValuesRow({ parameters, secrets }: RunValues, runId: number) {
  return { runId, parameters: JSON.stringify(parameters), secrets }
}

const SET_TRACE = 'UPDATE run SET trace_parent = :traceParent WHERE run_id = :runId AND owner_no = :ownerNo'

export const runWrites: WriteSteps<'setReplaced' | 'setRunTrace' | 'replaceSealed'> = {
  async replaceSealed(queries, { sealed }) {
    for (const each of sealed) await queries.run(REPLACE_SEALED, partOf(REPLACE_SEALED, each))
  },
  async setReplaced(queries, { runId }) {
    await queries.run(SET_REPLACED, { runId })
  },
  async setRunTrace(queries, { ownerNo, runId, traceParent }) {
    await queries.run(SET_TRACE, { ownerNo, runId, traceParent })
  },
}

async function listRuns(
  queries: Queries,
  { ownerNo, filter, slice }: Input<'listRuns'>,
  atOnce = runsPerSlice,
): Promise<Sliced<StoredRun, number>> {
  const { after = Number.MAX_SAFE_INTEGER, limit } = slice
  const values = { ...filter, ...jobValues(filter.jobs), ownerNo, after, limit: limit + 1 }
  const { where, runIds, stopAt } = await narrow(queries, filter, values, atOnce)
  const sql = of(where.join(' AND '), filter.finished, 'ORDER BY run.run_id DESC LIMIT :limit', runIds)
  const found = await queries.all(RUN, sql, { ...values, runIds, stopAt })
  const { items, next } = sliced(found.map(toRun), limit, ({ runId }) => runId)
  return { items, next: next ?? (stopAt === undefined ? undefined : stopAt + 1) }
}

type Narrowed = { where: string[]; runIds?: number[] | undefined; stopAt?: number | undefined }

/** The clauses of the filter. Rare matches are searched among few runs, or up to a run at which the slice stops. */
async function narrow(
  queries: Queries,
  filter: RunFilter,
  values: Values & { ownerNo: number },
  atOnce: number,
): Promise<Narrowed> {
  const where = ['run.owner_no = :ownerNo', 'run.run_id < :after']
  // Unfinished runs are rare among the runs of a job, and found by their own index.
  if (filter.jobName !== undefined) where.push(filter.finished === false ? 'job_name = :jobName' : OF_JOB)
  const clauses = clausesOf(filter)
  if (clauses.length === 0 || filter.finished === false) return { where: [...where, ...clauses] }
  const { finishedAfter } = filter
  if (finishedAfter !== undefined) {
    const runIds = await listFinishedAfter(
      queries,
      { ownerNo: values.ownerNo, finishedAfter },
      { unfinished: false },
    )
    if (runIds) return { where: [...where, ...clauses], runIds }
  }
  const stop = await findStop(queries, atOnce, where, values)
  const until = stop ? ['run.run_id > :stopAt'] : []
  return { where: [...where, ...until, ...clauses], stopAt: stop?.runId }
}

const IN_ROLLOUT_STATE = `EXISTS (
  SELECT 1 FROM rollout WHERE rollout.run_id = run.run_id AND rollout.state = :rolloutState)`

// Uses the name that is stored with the run, because its schedule may be deleted or created again.
const OF_SCHEDULE = `run.run_id IN (
  SELECT made.run_id FROM run_request AS made
  WHERE made.schedule_name = :scheduleName AND made.schedule_name IS NOT NULL AND made.run_id < :after)`

function clausesOf(filter: RunFilter): string[] {
  const {
    jobs,
    version,
    scheduleName,
    rolloutState,
    execStates,
    launchedAfter,
    launchedBefore,
    finishedAfter,
    finishedBefore,
  } = filter
  const clauses: string[] = []
  if (jobs !== undefined) clauses.push(ofJobs(jobs))
  if (scheduleName !== undefined) clauses.push(OF_SCHEDULE)
  if (version !== undefined) clauses.push('job_version.version = :version')
  if (rolloutState !== undefined) clauses.push(IN_ROLLOUT_STATE)
  if (execStates !== undefined) clauses.push(hasAnyOf(execStates))
  if (launchedAfter !== undefined) clauses.push('run.launched_at >= :launchedAfter')
  if (launchedBefore !== undefined) clauses.push('run.launched_at < :launchedBefore')
  if (finishedAfter !== undefined) clauses.push('run.ended_at >= :finishedAfter')
  if (finishedBefore !== undefined) clauses.push('run.ended_at < :finishedBefore')
  return clauses
}

function toRun(row: ReturnType<typeof RUN.read>): StoredRun {
  const { runId, jobName, jobVersion, launchedAt, endedAt, total, retryOf, keyId, keyName } = row
  const { where, matched, note, rollbackOf, window, version, scheduleNo, scheduleName, scheduledFor } = row
  const scheduled = { scheduleNo, scheduleName, scheduledFor }
  const { priority } = row
  const request = {
    where,
    matched,
    note,
    rollbackOf,
    // A run that ignores windows has none.
    window: window || null,
    ...(window === anyTime && { ignoresWindows: true as const }),
    priority,
    replaces: row.replaces !== null,
    ...scheduled,
    parameters: row.parameters ?? {},
  }
  const made = { retryOf, keyId, keyName, ...request, counts: pickCounts(row) }
  return { runId, jobName, jobVersion, version, launchedAt, endedAt, total, ...made }
}

function of(where: string, isFinished?: boolean, order = '', runIds?: number[]): Sql {
  return inBoth(({ is, join, isIn }) => {
    const unfinished = unfinishedOn[is]
    const which = isFinished === undefined ? '' : isFinished ? `AND NOT (${unfinished})` : `AND ${unfinished}`
    const listed = runIds === undefined ? '' : `AND ${isIn('run.run_id', 'runIds', 'bigint')}`
    return `SELECT ${RUN} FROM run ${join} job ON job.job_no = run.job_no
      ${join} job_version ON job_version.version_no = run.version_no
      LEFT JOIN api_key ON api_key.key_id = run.key_id
      LEFT JOIN run_request ON run_request.run_id = run.run_id
      LEFT JOIN run_parameters ON run_parameters.run_id = run.run_id WHERE ${where} ${which} ${listed} ${order}`
  })
}
