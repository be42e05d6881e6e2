// The list of executions, newest first. Which rows match decides which way they are found:
// a device's by its index, a rare state by its index, all else through the runs, whose rows carry
// owner, job, time and the count of each state, so that runs without a match are skipped.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ExecutionFilter, Sliced, StoredExecution } from '../../domain/store.ts'
import { number, rows } from '../schema/column.ts'
import { countColumn } from '../schema/count-column.ts'
import { run } from '../schema/tables.ts'
import { sliced } from '../sliced.ts'
import { EXECUTION, toExecution } from '../tables/executions.ts'
import { inSnapshot } from './database.ts'

const JOINS =
  'CROSS JOIN job ON job.job_no = run.job_no CROSS JOIN device ON device.device_no = execution.device_no'

const BY_EXECUTION = `
  SELECT ${EXECUTION} FROM execution CROSS JOIN run ON run.run_id = execution.run_id ${JOINS}`
const BY_RUN = `
  SELECT ${EXECUTION} FROM run CROSS JOIN execution
    ON execution.execution_id BETWEEN run.first_execution_id
      AND min(run.first_execution_id + run.total, :before) - 1 ${JOINS}`
// Ids of runs and of executions grow together: a later slice starts at its run and passes by no newer one.
const RUNS_BELOW = `run.run_id <= (
  SELECT run_id FROM execution WHERE execution_id < :before ORDER BY execution_id DESC LIMIT 1)`
// The run at which a slice stops. Whoever asks for what is rare among millions gets it in several slices:
// one slice through all of them would keep every other reader waiting.
const STOP_AT = `
  SELECT run_id AS "runId", first_execution_id + total AS next FROM run
  WHERE owner_no = :ownerNo AND ${RUNS_BELOW} :ofJob ORDER BY run_id DESC LIMIT 1 OFFSET :runsPerSlice`
const NEWEST_FIRST = 'ORDER BY execution.execution_id DESC LIMIT :limit'
// The same order, said so that SQLite sees both loops already run in it.
const NEWEST_RUN_FIRST = 'ORDER BY run.run_id DESC, execution.execution_id DESC LIMIT :limit'

const OF_JOB = 'run.job_no = (SELECT job_no FROM job WHERE owner_no = :ownerNo AND job_name = :jobName)'

export type ExecutionListInput = {
  ownerNo: number
  filter: ExecutionFilter
  /** Only what has a lower id. */
  before: number
  limit: number
  /** With a deviceId filter: what waits for the device, newest first, below `before`. Not in the index. */
  waiting: { ids: number[]; complete: boolean }
}
type Result = Sliced<StoredExecution, number>
type Values = Record<string, SQLInputValue>

const STOP = rows({ runId: run.fields.runId, next: number() })

export function prepareExecutionList(db: DatabaseSync, runsPerSlice = 50_000) {
  function prepare(sql: string) {
    const statement = db.prepare(sql)
    statement.setAllowUnknownNamedParameters(true) // no statement uses all of the values
    return statement
  }

  function select(sql: string, values: Values): StoredExecution[] {
    const found = prepare(sql).all(values)
    return found.map((row) => toExecution(EXECUTION.read(row)))
  }

  function throughRuns({ filter, limit }: ExecutionListInput, where: string[], values: Values): Result {
    const ofJob = filter.jobName === undefined ? '' : `AND ${OF_JOB}`
    const row = mayBeRare(filter) ? prepare(STOP_AT.replace(':ofJob', ofJob)).get(values) : undefined
    const stop = row && STOP.read(row)
    const clauses = stop ? [...where, 'run.run_id > :stopAt'] : where
    const sql = `${BY_RUN} WHERE ${clauses.join(' AND ')} ${NEWEST_RUN_FIRST}`
    const result = cut(select(sql, { ...values, stopAt: stop?.runId ?? null }), limit)
    return { items: result.items, next: result.next ?? stop?.next }
  }

  return {
    async listExecutions(input: ExecutionListInput): Promise<Result> {
      const { filter, before, limit } = input
      const values: Values = {
        ...(filter as Values),
        ownerNo: input.ownerNo,
        before,
        limit: limit + 1,
        waiting: JSON.stringify(input.waiting.ids),
        runsPerSlice,
      }
      const { clauses, runClauses } = filterClauses(filter)
      if (filter.deviceId !== undefined)
        return inSnapshot(db, () => ofDevice(input, [...clauses, ...runClauses], values))
      if (filter.execState && hasStateIndex(filter.execState) && filter.runId === undefined) {
        const where = ['execution.owner_no = :ownerNo', 'execution.execution_id < :before']
        // The planner uses a partial index only where it can see the index's own condition.
        where.push("execution.state NOT IN ('PENDING', 'SUCCEEDED')", ...clauses, ...runClauses)
        return cut(select(`${BY_EXECUTION} WHERE ${where.join(' AND ')} ${NEWEST_FIRST}`, values), limit)
      }
      const where = ['run.owner_no = :ownerNo', RUNS_BELOW, ...runClauses, ...clauses]
      if (filter.execState) where.push(`run.${countColumn(filter.execState)} > 0`)
      // The condition of run_unfinished, so that runs which have ended, however many, are not read.
      if (filter.execState === 'PENDING') where.push('run.pending + run.in_progress + run.canceling > 0')
      return inSnapshot(db, () => throughRuns(input, where, values))
    },
  }

  function ofDevice(input: ExecutionListInput, clauses: string[], values: Values): Result {
    const { waiting, limit } = input
    const device =
      'execution.device_no = (SELECT device_no FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId)'
    const indexed = ["execution.state <> 'PENDING'", device, 'execution.execution_id < :before', ...clauses]
    const queued = [
      "execution.state = 'PENDING'",
      'execution.execution_id IN (SELECT value FROM json_each(:waiting))',
      ...clauses,
    ]
    const found = [
      ...select(`${BY_EXECUTION} WHERE ${indexed.join(' AND ')} ${NEWEST_FIRST}`, values),
      ...select(`${BY_EXECUTION} WHERE ${queued.join(' AND ')} ${NEWEST_FIRST}`, values),
    ].sort((a, b) => b.jobExecutionId - a.jobExecutionId)
    if (waiting.complete) return cut(found, limit)
    // Only part of what waits was read: the slice ends where that part ends.
    const seenTo = waiting.ids.at(-1) ?? 0
    const part = cut(
      found.filter((execution) => execution.jobExecutionId >= seenTo),
      limit,
    )
    return { items: part.items, next: part.next ?? seenTo }
  }
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

function filterClauses(filter: ExecutionFilter) {
  const clauses = filter.execState === undefined ? [] : ['execution.state = :execState']
  const runClauses: string[] = []
  if (filter.runId !== undefined) runClauses.push('run.run_id = :runId')
  if (filter.launchedAfter !== undefined) runClauses.push('run.launched_at >= :launchedAfter')
  if (filter.launchedBefore !== undefined) runClauses.push('run.launched_at < :launchedBefore')
  if (filter.jobName !== undefined) runClauses.push(OF_JOB)
  return { clauses, runClauses }
}
