// The list of executions, newest first. Which rows match decides which way they are found:
// a device's by its indexes, a rare state by its index, all else through the runs, whose rows carry
// owner, job, time and the count of each state, so that runs without a match are skipped.

import type { ExecutionFilter, StoredExecution } from '../../domain/ports/executions.ts'
import type { Sliced } from '../../domain/ports/slices.ts'
import { inBoth, type Queries, type Sql, sliced, type Values } from '../queries.ts'
import { type Dialect, number, rows } from '../schema/column.ts'
import { run } from '../schema/tables.ts'
import { EXECUTION, toExecution } from './executions.ts'
import { countFields, OF_JOB, unfinishedOn } from './runs.ts'
import type { Input } from './step.ts'

const SELECT = `SELECT ${EXECUTION} FROM`
const joins = (join: string) =>
  `${join} job ON job.job_no = run.job_no ${join} device ON device.device_no = execution.device_no`
const NEWEST_FIRST = 'ORDER BY execution.execution_id DESC LIMIT :limit'
// Ids of runs and of executions grow together: a later slice starts at its run and passes by no newer one.
const RUNS_BELOW = `run.run_id <= (
  SELECT run_id FROM execution WHERE execution_id < :before ORDER BY execution_id DESC LIMIT 1)`
const OF_DEVICE = `execution.device_no = (
  SELECT device_no FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId)`
const BELOW: Readonly<Record<Dialect, string>> = {
  sqlite: 'execution.execution_id < :before',
  // Rows whose run is purged stay until their partition goes: without this the end of a list would pass by all of them.
  postgres: `execution.execution_id < :before AND execution.execution_id >= (
  SELECT first_execution_id FROM run WHERE owner_no = :ownerNo ORDER BY run_id LIMIT 1)`,
}
/** The two ways to a device's executions. On SQLite what waits is in no index: memory names it. */
const halves: Readonly<Record<Dialect, string[]>> = {
  sqlite: [
    `execution.state <> 'PENDING' AND ${OF_DEVICE} AND ${BELOW.sqlite}`,
    `execution.state = 'PENDING' AND execution.execution_id IN (SELECT value FROM json_each(:waiting))`,
  ],
  postgres: ['<=', '>'].map(
    (side) => `execution.state ${side} 'CANCELING' AND ${OF_DEVICE} AND ${BELOW.postgres}`,
  ),
}
const STOP = rows({ ...run.pick('runId'), next: number() })

/** `ids`: what waits for the device of the filter, newest first, from the cursor on. */
type Waiting = { ids: number[]; complete: boolean }
const unknown: Waiting = { ids: [], complete: true }
export type ExecutionList = Input<'listExecutions'> & { waiting?: Waiting }
type Slice = Sliced<StoredExecution, number>

/** Several statements, which have to see one state of the database. */
export function goesThroughRuns({ deviceId, execState, runId }: ExecutionFilter): boolean {
  return deviceId === undefined && (runId !== undefined || !hasStateIndex(execState))
}

/** `runsPerSlice`: one slice through all runs of millions would keep every other reader waiting. */
export async function listExecutions(
  queries: Queries,
  { ownerNo, filter, slice: { after, limit }, waiting = unknown }: ExecutionList,
  runsPerSlice = 50_000,
): Promise<Slice> {
  const before = after ?? Number.MAX_SAFE_INTEGER
  const values = { ...filter, ownerNo, before, limit: limit + 1, waiting: waiting.ids }
  if (goesThroughRuns(filter)) return throughRuns(queries, filter, values, limit, runsPerSlice)
  const sql = filter.deviceId === undefined ? ofState(filter) : ofDevice(filter)
  const found = (await select(queries, sql, values)).sort((a, b) => b.jobExecutionId - a.jobExecutionId)
  if (waiting.complete) return cut(found, limit)
  // Only part of what waits was read: the slice ends where that part ends.
  const seenTo = waiting.ids.at(-1) ?? 0
  const seen = found.filter(({ jobExecutionId }) => jobExecutionId >= seenTo)
  const { items, next = seenTo } = cut(seen, limit)
  return { items, next }
}

/** Both ways in one statement: what moves from the one to the other meanwhile is in exactly one of them. */
function ofDevice(filter: ExecutionFilter): Sql {
  return inBoth(({ is, join }) => {
    const parts = halves[is].map(
      (half) => `SELECT * FROM (${byExecution(join, [half, ...clausesOf(filter)])}) AS half`,
    )
    // SQLite would sort all of it on the way; so few are sorted here.
    return `${parts.join(' UNION ALL ')} ${is === 'sqlite' ? '' : 'ORDER BY "jobExecutionId" DESC LIMIT :limit'}`
  })
}

function ofState(filter: ExecutionFilter): Sql {
  // The planner uses a partial index only where it can see the index's own condition.
  const condition = {
    sqlite: "execution.state NOT IN ('PENDING', 'SUCCEEDED')",
    postgres: "execution.state <> 'PENDING' AND execution.state <> 'SUCCEEDED'",
  }
  return inBoth(({ is, join }) =>
    byExecution(join, ['execution.owner_no = :ownerNo', BELOW[is], condition[is], ...clausesOf(filter)]),
  )
}

function byExecution(join: string, where: string[]): string {
  return `${SELECT} execution ${join} run ON run.run_id = execution.run_id ${joins(join)}
  WHERE ${where.join(' AND ')} ${NEWEST_FIRST}`
}

async function throughRuns(
  queries: Queries,
  filter: ExecutionFilter,
  values: Values,
  limit: number,
  runsPerSlice: number,
): Promise<Slice> {
  const { execState, jobName } = filter
  const ofRuns = ['run.owner_no = :ownerNo', RUNS_BELOW]
  const stop = mayBeRare(filter)
    ? await queries.get(STOP, stopAfter(runsPerSlice, jobName ? [...ofRuns, OF_JOB] : ofRuns), values)
    : undefined
  if (execState) ofRuns.push(`${countFields[execState].sql} > 0`)
  if (stop) ofRuns.push('run.run_id > :stopAt')
  const sql = inBoth(({ is, join, least }) => {
    // The condition of run_unfinished, so that runs which have ended, however many, are not read.
    const unfinished = execState === 'PENDING' ? [unfinishedOn[is]] : []
    const where = [...ofRuns, ...unfinished, ...runClausesOf(filter)].join(' AND ')
    const ofRun = `execution.execution_id BETWEEN run.first_execution_id
      AND ${least}(run.first_execution_id + run.total, :before) - 1`
    const executions = [ofRun, ...stateClauseOf(filter)].join(' AND ')
    // The same order, said so that SQLite sees both loops already run in it.
    if (is === 'sqlite')
      return `${SELECT} run ${join} execution ON ${executions} ${joins(join)}
  WHERE ${where} ORDER BY run.run_id DESC, execution.execution_id DESC LIMIT :limit`
    // Each run gives no more than the slice holds: of a large one only the newest are read.
    return `${SELECT} (SELECT * FROM run WHERE ${where} ORDER BY run_id DESC) AS run
    CROSS JOIN LATERAL (SELECT * FROM execution WHERE ${executions} ${NEWEST_FIRST}) AS execution
    ${joins(join)} LIMIT :limit`
  })
  const { items, next } = cut(await select(queries, sql, { ...values, stopAt: stop?.runId }), limit)
  return { items, next: next ?? stop?.next }
}

/** The run at which a slice stops: what is rare among millions is given in several slices. */
function stopAfter(runs: number, where: string[]): string {
  return `SELECT run_id AS "runId", first_execution_id + total AS next FROM run
  WHERE ${where.join(' AND ')} ORDER BY run_id DESC LIMIT 1 OFFSET ${runs}`
}

/** No index leads from one match to the next. */
function mayBeRare({ execState, runId, launchedAfter, launchedBefore }: ExecutionFilter): boolean {
  const byTime = launchedAfter !== undefined || launchedBefore !== undefined
  return runId === undefined && (byTime || execState === 'SUCCEEDED')
}

function hasStateIndex(state: string | undefined): boolean {
  return state !== undefined && state !== 'PENDING' && state !== 'SUCCEEDED'
}

async function select(queries: Queries, sql: Sql, values: Values): Promise<StoredExecution[]> {
  return (await queries.all(EXECUTION, sql, values)).map(toExecution)
}

function cut(found: StoredExecution[], limit: number): Slice {
  return sliced(found, limit, ({ jobExecutionId }) => jobExecutionId)
}

function clausesOf(filter: ExecutionFilter): string[] {
  return [...stateClauseOf(filter), ...runClausesOf(filter)]
}

function stateClauseOf({ execState }: ExecutionFilter): string[] {
  return execState === undefined ? [] : ['execution.state = :execState']
}

function runClausesOf({ runId, launchedAfter, launchedBefore, jobName }: ExecutionFilter): string[] {
  const clauses: string[] = []
  if (runId !== undefined) clauses.push('run.run_id = :runId')
  if (launchedAfter !== undefined) clauses.push('run.launched_at >= :launchedAfter')
  if (launchedBefore !== undefined) clauses.push('run.launched_at < :launchedBefore')
  if (jobName !== undefined) clauses.push(OF_JOB)
  return clauses
}
