import type { DatabaseSync } from 'node:sqlite'
import { type ExecState, execStates } from '@jobcast/contract'
import type { Slice, Sliced, StoredRun } from '../../domain/store.ts'
import { type Row, sliced } from './rows.ts'

/** The count of a state is the column of its name. */
export const countColumn = (state: ExecState): string => state.toLowerCase()

const SELECT = `
  SELECT run_id, job_name, launched_at, total, ${execStates.map(countColumn).join(', ')}
  FROM run JOIN job USING (job_no)`
const GET = `${SELECT} WHERE run.owner_no = ? AND run_id = ?`
const LIST = `${SELECT} WHERE run.owner_no = ? AND run_id < ? ORDER BY run_id DESC LIMIT ?`
const LIST_BY_JOB = `
  ${SELECT} WHERE job_no = (SELECT job_no FROM job WHERE owner_no = ? AND job_name = ?) AND run_id < ?
  ORDER BY run_id DESC LIMIT ?`
const INSERT = `
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending,
    expire_at, deadline_at, key_id)
  VALUES (:runId, :ownerNo, :jobNo, :versionNo, :launchedAt, :firstExecutionId, :total, :total,
    :expireAt, :deadlineAt, :keyId)`

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
}

export function prepareRuns(db: DatabaseSync) {
  const get = db.prepare(GET)
  const list = db.prepare(LIST)
  const listByJob = db.prepare(LIST_BY_JOB)
  const insert = db.prepare(INSERT)
  return {
    insertRun(run: NewRun): void {
      const { runId, ownerNo, jobNo, versionNo, launchedAt, firstExecutionId, total } = run
      const { expireAt, deadlineAt, keyId } = run
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
      })
    },
    getRun(input: { ownerNo: number; runId: number }): StoredRun | undefined {
      const row = get.get(input.ownerNo, input.runId)
      return row && toRun(row)
    },
    listRuns(input: {
      ownerNo: number
      jobName: string | undefined
      slice: Slice<number>
    }): Sliced<StoredRun, number> {
      const { ownerNo, jobName } = input
      const { after = Number.MAX_SAFE_INTEGER, limit } = input.slice
      const rows =
        jobName === undefined
          ? list.all(ownerNo, after, limit + 1)
          : listByJob.all(ownerNo, jobName, after, limit + 1)
      return sliced(rows.map(toRun), limit, (run) => run.runId)
    },
  }
}

function toRun(row: Row): StoredRun {
  return {
    runId: row.run_id as number,
    jobName: row.job_name as string,
    launchedAt: row.launched_at as number,
    total: row.total as number,
    counts: Object.fromEntries(
      execStates.map((state) => [state, row[countColumn(state)]]),
    ) as StoredRun['counts'],
  }
}
