import type { DatabaseSync } from 'node:sqlite'
import { execStates } from '@jobcast/contract/words'
import { unsuccessfulEnds } from '../../domain/execution.ts'
import type { Slice, Sliced, StoredRun } from '../../domain/store.ts'
import { countColumn, toRun } from '../from-rows.ts'
import { type Row, sliced } from './rows.ts'

export const STATE_COUNTS = execStates.map(countColumn).join(', ')
const SELECT = `
  SELECT run_id, job_name, run.version_no, launched_at, total, retry_of, ${STATE_COUNTS}
  FROM run JOIN job USING (job_no)`
const GET = `${SELECT} WHERE run.owner_no = ? AND run_id = ?`
const IS_UNFINISHED = 'pending + in_progress + canceling > 0' // the condition of run_unfinished
const OF_JOB = 'run.job_no = (SELECT job_no FROM job WHERE owner_no = :ownerNo AND job_name = :jobName)'
const UNSUCCESSFUL = `
  SELECT device_id FROM execution CROSS JOIN device ON device.device_no = execution.device_no
  WHERE execution_id BETWEEN :first AND :last AND state IN (${unsuccessfulEnds.map((state) => `'${state}'`).join(', ')})
    AND device.deleted_at IS NULL
  ORDER BY execution_id`
const RANGE = `
  SELECT job_name, first_execution_id AS first, first_execution_id + total - 1 AS last FROM run JOIN job USING (job_no)
  WHERE run.owner_no = ? AND run_id = ?`
const INSERT = `
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending,
    expire_at, deadline_at, key_id, retry_of)
  VALUES (:runId, :ownerNo, :jobNo, :versionNo, :launchedAt, :firstExecutionId, :total, :total,
    :expireAt, :deadlineAt, :keyId, :retryOf)`

export type NewRun = {
  runId: number
  ownerNo: number
  jobNo: number
  versionNo: number
  launchedAt: number
  firstExecutionId: number
  total: number
  expireAt: number | null
  deadlineAt: number | null
  keyId: string
  retryOf: number | null
}

export function prepareRuns(db: DatabaseSync) {
  const get = db.prepare(GET)
  function list(where: string[], values: Record<string, string | number>): Row[] {
    const statement = db.prepare(`${SELECT} WHERE ${where.join(' AND ')} ORDER BY run_id DESC LIMIT :limit`)
    statement.setAllowUnknownNamedParameters(true) // no list uses all of the values
    return statement.all(values)
  }

  const insert = db.prepare(INSERT)
  const range = db.prepare(RANGE)
  const unsuccessful = db.prepare(UNSUCCESSFUL)
  return {
    insertRun(run: NewRun): void {
      const { runId, ownerNo, jobNo, versionNo, launchedAt, firstExecutionId, total } = run
      const { expireAt, deadlineAt, keyId, retryOf } = run
      insert.run({
        runId,
        ownerNo,
        jobNo,
        versionNo,
        launchedAt,
        firstExecutionId,
        total,
        expireAt,
        deadlineAt,
        keyId,
        retryOf,
      })
    },
    getRun(input: { ownerNo: number; runId: number }): StoredRun | undefined {
      const row = get.get(input.ownerNo, input.runId)
      return row && toRun(row)
    },
    listUnsuccessful(input: {
      ownerNo: number
      runId: number
    }): { jobName: string; deviceIds: string[] } | undefined {
      const run = range.get(input.ownerNo, input.runId)
      if (run === undefined) return undefined
      const rows = unsuccessful.all({ first: run.first as number, last: run.last as number })
      return { jobName: run.job_name as string, deviceIds: rows.map((row) => row.device_id as string) }
    },
    listRuns(input: {
      ownerNo: number
      jobName: string | undefined
      finished: boolean | undefined
      slice: Slice<number>
    }): Sliced<StoredRun, number> {
      const { ownerNo, jobName, finished } = input
      const { after = Number.MAX_SAFE_INTEGER, limit } = input.slice
      const where = ['run.owner_no = :ownerNo', 'run_id < :after']
      // The plus keeps the planner from the index by job: what has not ended is rare among what a job has run.
      if (jobName !== undefined) where.push(finished === false ? `+${OF_JOB}` : OF_JOB)
      if (finished !== undefined) where.push(finished ? `NOT (${IS_UNFINISHED})` : IS_UNFINISHED)
      const rows = list(where, { ownerNo, jobName: jobName ?? '', after, limit: limit + 1 })
      return sliced(rows.map(toRun), limit, (run) => run.runId)
    },
  }
}
