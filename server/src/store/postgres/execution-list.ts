// The list of executions, newest first. Which rows match decides which way they are found:
// a device's by its indexes, a rare state by its index, all else through the runs, whose rows carry
// owner, job, time and the count of each state, so that runs without a match are skipped.

import type { ExecutionFilter, Sliced, Store, StoredExecution } from '../../domain/store.ts'
import type { Queries } from '../queries.ts'
import { number, rows } from '../schema/column.ts'
import { countColumn } from '../schema/count-column.ts'
import { run } from '../schema/tables.ts'
import { sliced } from '../sliced.ts'
import { EXECUTION, toExecution } from '../tables/executions.ts'
import type { Database } from './database.ts'

const SELECT = `SELECT ${EXECUTION}`
const EXECUTION_JOINS =
  'JOIN job ON job.job_no = run.job_no JOIN device ON device.device_no = execution.device_no'
const RUN_JOIN = `JOIN run ON run.run_id = execution.run_id`
const NEWEST_FIRST = 'ORDER BY execution.execution_id DESC'
// Ids of runs and of executions grow together: a later slice starts at its run and passes by no newer one.
const RUNS_BELOW = `run.run_id <= (
  SELECT run_id FROM execution WHERE execution_id < :before ORDER BY execution_id DESC LIMIT 1)`
const OF_JOB = 'run.job_no = (SELECT job_no FROM job WHERE owner_no = :ownerNo AND job_name = :jobName)'
const OF_DEVICE = `execution.device_no = (
  SELECT device_no FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId)`

// Rows whose run is purged stay until their partition goes: without this the end of a list would pass by all of them.
const FROM_OLDEST_RUN = `execution.execution_id >= (
  SELECT first_execution_id FROM run WHERE owner_no = :ownerNo ORDER BY run_id LIMIT 1)`

const BETWEEN_IDS = ['execution.execution_id < :before', FROM_OLDEST_RUN]

/** One that asks for what is rare among millions gets it in several slices, so that no slice takes long. */
const runsPerSlice = 50_000

type Result = Sliced<StoredExecution, number>
type Values = Record<string, unknown>

export function buildExecutionListSteps(db: Database): Pick<Store, 'listExecutions'> {
  return {
    async listExecutions({ ownerNo, filter, slice: { after, limit } }) {
      const before = after ?? Number.MAX_SAFE_INTEGER
      const values = { ...filter, ownerNo, before, limit: limit + 1 }
      if (filter.deviceId !== undefined) return cut(await select(db.named, ofDevice(filter), values), limit)
      if (filter.execState && hasStateIndex(filter.execState) && filter.runId === undefined) {
        return cut(await select(db.named, ofState(filter), values), limit)
      }
      return db.inSnapshot(({ named }) => throughRuns(named, filter, values, limit))
    },
  }
}

/** Both indexes in one statement: what moves from the one to the other meanwhile is in exactly one of them. */
function ofDevice(filter: ExecutionFilter): string {
  const { state, run } = clauses(filter)
  const half = (which: string) => {
    const where = [OF_DEVICE, `execution.state ${which} 'CANCELING'`, ...BETWEEN_IDS]
    return `(${SELECT} FROM execution ${RUN_JOIN} ${EXECUTION_JOINS}
      WHERE ${[...where, ...state, ...run].join(' AND ')} ${NEWEST_FIRST} LIMIT :limit)`
  }
  return `SELECT * FROM (${half('<=')} UNION ALL ${half('>')}) AS found ORDER BY "jobExecutionId" DESC LIMIT :limit`
}

function ofState(filter: ExecutionFilter): string {
  const { state, run } = clauses(filter)
  const where = ['execution.owner_no = :ownerNo', ...BETWEEN_IDS]
  // The planner uses a partial index only where it can see the index's own condition.
  where.push("execution.state <> 'PENDING' AND execution.state <> 'SUCCEEDED'", ...state, ...run)
  return `${SELECT} FROM execution ${RUN_JOIN} ${EXECUTION_JOINS}
    WHERE ${where.join(' AND ')} ${NEWEST_FIRST} LIMIT :limit`
}

async function throughRuns(
  reads: Queries,
  filter: ExecutionFilter,
  values: Values,
  limit: number,
): Promise<Result> {
  const { state, run } = clauses(filter)
  const where = ['run.owner_no = :ownerNo', RUNS_BELOW, ...run]
  if (filter.execState) where.push(`run.${countColumn(filter.execState)} > 0`)
  // The condition of run_unfinished, so that runs which have ended, however many, are not read.
  if (filter.execState === 'PENDING') where.push('NOT run.ended')
  const stop = mayBeRare(filter) ? await findStop(reads, filter, values) : undefined
  if (stop) where.push('run.run_id > :stopAt')
  const ofRun = [
    'execution_id BETWEEN run.first_execution_id AND least(run.first_execution_id + run.total, :before) - 1',
  ]
  // Each run gives no more than the slice holds: of a large one only the newest are read.
  const sql = `${SELECT} FROM (SELECT * FROM run WHERE ${where.join(' AND ')} ORDER BY run_id DESC) AS run
    CROSS JOIN LATERAL (SELECT * FROM execution WHERE ${[...ofRun, ...state].join(' AND ')}
      ${NEWEST_FIRST} LIMIT :limit) AS execution
    ${EXECUTION_JOINS} LIMIT :limit`
  const result = cut(await select(reads, sql, { ...values, stopAt: stop?.runId }), limit)
  return { items: result.items, next: result.next ?? stop?.next }
}

const STOP = rows({ runId: run.fields.runId, next: number() })

/** The run at which a slice stops. */
function findStop(reads: Queries, { jobName }: ExecutionFilter, values: Values) {
  const where = ['owner_no = :ownerNo', RUNS_BELOW, ...(jobName === undefined ? [] : [OF_JOB])]
  const sql = `SELECT run_id AS "runId", first_execution_id + total AS next FROM run
    WHERE ${where.join(' AND ')} ORDER BY run_id DESC LIMIT 1 OFFSET ${runsPerSlice}`
  return reads.get(STOP, sql, values)
}

async function select(queries: Queries, sql: string, values: Values): Promise<StoredExecution[]> {
  return (await queries.all(EXECUTION, sql, values)).map(toExecution)
}

/** No index leads from one match to the next. */
function mayBeRare({ execState, runId, launchedAfter, launchedBefore }: ExecutionFilter): boolean {
  const byTime = launchedAfter !== undefined || launchedBefore !== undefined
  return runId === undefined && (byTime || execState === 'SUCCEEDED')
}

function hasStateIndex(state: string): boolean {
  return state !== 'PENDING' && state !== 'SUCCEEDED'
}

function cut(found: StoredExecution[], limit: number): Result {
  return sliced(found, limit, (execution) => execution.jobExecutionId)
}

function clauses(filter: ExecutionFilter): { state: string[]; run: string[] } {
  const state = filter.execState === undefined ? [] : ['execution.state = :execState']
  const run: string[] = []
  if (filter.runId !== undefined) run.push('run.run_id = :runId')
  if (filter.launchedAfter !== undefined) run.push('run.launched_at >= :launchedAfter')
  if (filter.launchedBefore !== undefined) run.push('run.launched_at < :launchedBefore')
  if (filter.jobName !== undefined) run.push(OF_JOB)
  return { state, run }
}
