// Counts unfinished executions of some devices. On SQLite waiting executions are not in an index by device; their ids are in
// memory, so they are given.

import type { UnfinishedCount } from '../../domain/device/ports/fleet.ts'
import { inBoth, type Queries, type Sql, type Values } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'
import { jobValues, ofJobs } from './run-fields.ts'

const COUNT = rows({ waiting: number(), running: number(), oldestWaitingId: orNull(number()) })
const FROM = {
  sqlite: 'json_each(:ids) AS given CROSS JOIN execution ON execution.execution_id = given.value',
  postgres: `unnest(CAST(:deviceNos AS integer[])) AS given (device_no)
    CROSS JOIN LATERAL (
      SELECT * FROM execution WHERE execution.device_no = given.device_no AND state <= 'CANCELING') AS execution`,
}
const countOf = (jobs: readonly string[] | undefined) =>
  inBoth(
    ({ is, join }) => `
  SELECT count(*) FILTER (WHERE state = 'PENDING') AS waiting,
    count(*) FILTER (WHERE state IN ('IN_PROGRESS', 'CANCELING')) AS running,
    min(CASE WHEN state = 'PENDING' THEN execution_id END) AS "oldestWaitingId"
  FROM ${FROM[is]} ${jobs === undefined ? '' : `${join} run ON run.run_id = execution.run_id AND ${ofJobs(jobs)}`}`,
  )

type OfJobs = { ownerNo: number; jobs?: readonly string[] }

/** `ids` for SQLite, `deviceNos` for PostgreSQL. */
export async function countUnfinished(
  queries: Queries,
  { ownerNo, jobs, ...of }: OfJobs & ({ ids: readonly number[] } | { deviceNos: readonly number[] }),
): Promise<UnfinishedCount> {
  const sql: Sql = countOf(jobs)
  const values: Values = { ...of, ...(jobs && { ownerNo, ...jobValues(jobs) }) }
  const { oldestWaitingId, ...counts } = await queries.one(COUNT, sql, values)
  return { ...counts, oldestWaitingId: oldestWaitingId ?? undefined }
}
