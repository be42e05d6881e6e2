// The list of executions, newest first. The filter determines the access path: executions of a device by its indexes, a rare
// state by its index, all others through the runs, whose rows have owner, job, time and the count of each state, so that runs
// without a match are skipped. Each of several states uses its own path, in one statement.

import type { ExecState } from '@jobcast/contract/words'
import type { Sliced } from '../../domain/common/ports/slices.ts'
import type { ExecutionFilter, StoredExecution } from '../../domain/execution/ports/executions.ts'
import { inBoth, type Queries, type Spelling, type Sql, sliced, type Values } from '../queries.ts'
import type { Dialect } from '../schema/column.ts'
import { EXECUTION, toExecution } from './executions.ts'
import { jobValues, OF_JOB, ofJobs, unfinishedOn } from './run-fields.ts'
import { findStop, hasAnyOf, listFinishedAfter, runsPerSlice } from './run-walk.ts'
import type { Input } from './step.ts'

const SELECT = `SELECT ${EXECUTION} FROM` as const
const joins = (join: string) =>
  `${join} job ON job.job_no = run.job_no ${join} device ON device.device_no = execution.device_no`
const NEWEST_FIRST = 'ORDER BY execution.execution_id DESC LIMIT :limit'
// Ids of runs and executions grow together: a later slice starts at its run and skips all newer ones.
const RUNS_BELOW = `run.run_id <= (
  SELECT run_id FROM execution WHERE execution_id < :before ORDER BY execution_id DESC LIMIT 1)`
const OF_DEVICE = `execution.device_no = (
  SELECT device_no FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId)`
const BELOW: Readonly<Record<Dialect, string>> = {
  sqlite: 'execution.execution_id < :before',
  // Rows of purged runs remain until their partition is dropped; without this condition, the end of a list would read all of them.
  postgres: `execution.execution_id < :before AND execution.execution_id >= (
  SELECT first_execution_id FROM run WHERE owner_no = :ownerNo ORDER BY run_id LIMIT 1)`,
}
/** The two access paths to a device's executions. On SQLite waiting executions are not in an index; their ids are in memory. */
const halves: Readonly<Record<Dialect, string[]>> = {
  sqlite: [
    `execution.state <> 'PENDING' AND ${OF_DEVICE} AND ${BELOW.sqlite}`,
    `execution.state = 'PENDING' AND execution.execution_id IN (SELECT value FROM json_each(:waiting))`,
  ],
  postgres: ['<=', '>'].map(
    (side) => `execution.state ${side} 'CANCELING' AND ${OF_DEVICE} AND ${BELOW.postgres}`,
  ),
}
// The planner uses a partial index only if the statement contains its condition.
export const IN_STATE_INDEX: Readonly<Record<Dialect, string>> = {
  sqlite: "execution.state NOT IN ('PENDING', 'SUCCEEDED')",
  postgres: "execution.state <> 'PENDING' AND execution.state <> 'SUCCEEDED'",
}

/** `ids`: waiting executions of the device in the filter, newest first, after the cursor. */
type Waiting = { ids: number[]; complete: boolean }
const unknown: Waiting = { ids: [], complete: true }
export type ExecutionList = Input<'listExecutions'> & { waiting?: Waiting }
type Slice = Sliced<StoredExecution, number>

/** Needs several statements, which must see one state of the database. */
export function goesThroughRuns(filter: ExecutionFilter): boolean {
  const { deviceId, execStates } = filter
  return deviceId === undefined && (execStates ?? [undefined]).some((state) => isThroughRuns(filter, state))
}

export async function listExecutions(
  queries: Queries,
  { ownerNo, filter, slice: { after, limit }, waiting = unknown }: ExecutionList,
  atOnce = runsPerSlice,
): Promise<Slice> {
  const before = after ?? Number.MAX_SAFE_INTEGER
  const values = {
    ...filter,
    ownerNo,
    before,
    limit: limit + 1,
    waiting: waiting.ids,
    ...namedStates(filter),
    ...jobValues(filter.jobs),
  }
  if (filter.deviceId === undefined) return byStates(queries, filter, values, limit, atOnce)
  const found = await select(queries, ofDevice(filter), values)
  if (waiting.complete) return cut(found, limit)
  // Only a part of the waiting executions was read, so the slice ends where that part ends.
  return cutAt(found, limit, waiting.ids.at(-1) ?? 0)
}

/** Both paths in one statement, so that an execution that changes between them is found exactly once. */
function ofDevice(filter: ExecutionFilter): Sql {
  return inBoth(({ is, join }) => {
    const clauses = [...stateClausesOf(filter), ...runClausesOf(filter), ...endClausesOf(filter)]
    return merged(
      is,
      halves[is].map((half) => byExecution(join, [half, ...clauses])),
    )
  })
}

async function byStates(
  queries: Queries,
  filter: ExecutionFilter,
  values: Values & { ownerNo: number },
  limit: number,
  atOnce: number,
): Promise<Slice> {
  const { where, stop, runIds } = goesThroughRuns(filter)
    ? await narrow(queries, filter, values, atOnce)
    : { where: [] }
  const sql = inBoth((spelling) => {
    const listed = runIds ? [spelling.isIn('run.run_id', 'runIds', 'bigint')] : []
    const parts = (filter.execStates ?? [undefined]).map((state) =>
      isThroughRuns(filter, state)
        ? throughRuns(spelling, filter, state, [...where, ...listed])
        : ofState(spelling, filter, state as ExecState),
    )
    return merged(spelling.is, parts)
  })
  const found = await select(queries, sql, { ...values, runIds, stopAt: stop?.runId })
  return stop ? cutAt(found, limit, stop.next) : cut(found, limit)
}

/** The runs that the slice reads: a few known ones, or the newest up to a stop. */
async function narrow(
  queries: Queries,
  filter: ExecutionFilter,
  values: Values & { ownerNo: number },
  atOnce: number,
) {
  const where = ['run.owner_no = :ownerNo', RUNS_BELOW]
  if (!mayBeRare(filter)) return { where }
  const { finishedAfter } = filter
  if (finishedAfter !== undefined) {
    const runIds = await listFinishedAfter(
      queries,
      { ownerNo: values.ownerNo, finishedAfter },
      { unfinished: true },
    )
    if (runIds) return { where, runIds }
  }
  const ofJob = filter.jobName === undefined ? where : [...where, OF_JOB]
  const stop = await findStop(queries, atOnce, ofJob, values)
  return stop ? { where: [...where, 'run.run_id > :stopAt'], stop } : { where }
}

function ofState({ is, join }: Spelling, filter: ExecutionFilter, state: ExecState): string {
  return byExecution(join, [
    'execution.owner_no = :ownerNo',
    BELOW[is],
    IN_STATE_INDEX[is],
    isState(state),
    ...runClausesOf(filter),
  ])
}

function byExecution(join: string, where: string[]): string {
  return `${SELECT} execution ${join} run ON run.run_id = execution.run_id ${joins(join)}
  WHERE ${where.join(' AND ')} ${NEWEST_FIRST}`
}

function throughRuns(
  { is, join, least, by }: Spelling,
  filter: ExecutionFilter,
  state: ExecState | undefined,
  ofRuns: string[],
): string {
  // The condition of the index run_unfinished, so that finished runs are not read.
  const unfinished = state === 'PENDING' ? [unfinishedOn[is]] : []
  const having = state === undefined ? [] : [hasAnyOf([state])]
  const where = [...ofRuns, ...unfinished, ...having, ...runClausesOf(filter)].join(' AND ')
  const ofRun = `execution.execution_id BETWEEN run.first_execution_id
      AND ${least}(run.first_execution_id + run.total, :before) - 1`
  const inIndex = hasStateIndex(state) ? ['execution.owner_no = :ownerNo', IN_STATE_INDEX[is]] : []
  const ofState = state === undefined ? [] : [isState(state)]
  const executions = [ofRun, ...inIndex, ...ofState, ...endClausesOf(filter)].join(' AND ')
  // The same order, in a form from which SQLite recognizes that both loops already have it.
  if (is === 'sqlite') {
    const index = hasStateIndex(state) ? by('execution_by_state') : ''
    return `${SELECT} run ${join} execution ${index} ON ${executions} ${joins(join)}
  WHERE ${where} ORDER BY run.run_id DESC, execution.execution_id DESC LIMIT :limit`
  }
  // Limits the rows per run to the size of the slice, so that only the newest of a large run are read.
  return `${SELECT} (SELECT * FROM run WHERE ${where} ORDER BY run_id DESC) AS run
    CROSS JOIN LATERAL (SELECT * FROM execution WHERE ${executions} ${NEWEST_FIRST}) AS execution
    ${joins(join)} LIMIT :limit`
}

/** SQLite would sort all rows; the few rows of the result are sorted here. */
function merged(is: Dialect, parts: string[]): string {
  const [only, ...others] = parts
  if (only !== undefined && others.length === 0) return only
  const all = parts.map((part) => `SELECT * FROM (${part}) AS part`).join(' UNION ALL ')
  return `${all} ${is === 'sqlite' ? '' : 'ORDER BY "jobExecutionId" DESC LIMIT :limit'}`
}

function isThroughRuns(filter: ExecutionFilter, state: ExecState | undefined): boolean {
  return filter.runId !== undefined || hasEndFilter(filter) || !hasStateIndex(state)
}

/** True if no index finds the matches. */
function mayBeRare(filter: ExecutionFilter): boolean {
  const { execStates, runId, launchedAfter, launchedBefore, jobs } = filter
  const byTime = launchedAfter !== undefined || launchedBefore !== undefined || hasEndFilter(filter)
  const mayBe = byTime || jobs !== undefined || (execStates?.includes('SUCCEEDED') ?? false)
  return runId === undefined && mayBe
}

function hasEndFilter({ finishedAfter, finishedBefore }: ExecutionFilter): boolean {
  return finishedAfter !== undefined || finishedBefore !== undefined
}

function hasStateIndex(state: ExecState | undefined): boolean {
  return state !== undefined && state !== 'PENDING' && state !== 'SUCCEEDED'
}

async function select(queries: Queries, sql: Sql, values: Values): Promise<StoredExecution[]> {
  const found = (await queries.all(EXECUTION, sql, values)).map(toExecution)
  return found.sort((a, b) => b.jobExecutionId - a.jobExecutionId)
}

function cut(found: StoredExecution[], limit: number): Slice {
  return sliced(found, limit, ({ jobExecutionId }) => jobExecutionId)
}

/** Below `end`, executions may be missing. */
function cutAt(found: StoredExecution[], limit: number, end: number): Slice {
  const { items, next = end } = cut(
    found.filter(({ jobExecutionId }) => jobExecutionId >= end),
    limit,
  )
  return { items, next }
}

const isState = (state: ExecState) => `execution.state = :is${state}` as const

function namedStates({ execStates = [] }: ExecutionFilter): Values {
  return Object.fromEntries(execStates.map((state) => [`is${state}`, state]))
}

function stateClausesOf({ execStates }: ExecutionFilter): string[] {
  return execStates === undefined ? [] : [`(${execStates.map(isState).join(' OR ')})`]
}

function runClausesOf(filter: ExecutionFilter): string[] {
  const { runId, launchedAfter, launchedBefore, jobName, jobs } = filter
  const clauses: string[] = []
  if (runId !== undefined) clauses.push('run.run_id = :runId')
  if (launchedAfter !== undefined) clauses.push('run.launched_at >= :launchedAfter')
  if (launchedBefore !== undefined) clauses.push('run.launched_at < :launchedBefore')
  if (jobName !== undefined) clauses.push(OF_JOB)
  if (jobs !== undefined) clauses.push(ofJobs(jobs))
  return clauses
}

function endClausesOf({ finishedAfter, finishedBefore }: ExecutionFilter): string[] {
  const clauses: string[] = []
  if (finishedAfter !== undefined) clauses.push('execution.finished_at >= :finishedAfter')
  if (finishedBefore !== undefined) clauses.push('execution.finished_at < :finishedBefore')
  return clauses
}
