// Reads at start what has not ended, to rebuild what waits for whom. Runs that have ended are not looked at.

import type { DatabaseSync } from 'node:sqlite'

const OWNERS = 'SELECT owner_no FROM owner ORDER BY owner_no'
const FIRST = `
  SELECT run_id, first_execution_id FROM run
  WHERE owner_no = ? AND run_id >= ? AND pending + in_progress + canceling > 0
  ORDER BY run_id LIMIT 1`
const RUN_AT = 'SELECT run_id FROM execution WHERE execution_id >= ? ORDER BY execution_id LIMIT 1'
// As two lists in JSON: row by row a million of them took 2.6 s, like this they take 0.4 s. An aggregate sees
// rows as they are found, here in the order of both loops.
const PART = `
  SELECT json_group_array(execution_id) AS execution_ids, json_group_array(device_no) AS device_nos
  FROM run CROSS JOIN execution
    ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
  WHERE run.owner_no = ? AND run.run_id BETWEEN ? AND ? AND pending + in_progress + canceling > 0
    AND state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')`

const DELAYED = `
  SELECT execution_id, device_no FROM execution WHERE due_at IS NOT NULL AND not_before IS NOT NULL`

/** Those that wait for a retry. */
export function readDelayed(
  db: DatabaseSync,
  take: (jobExecutionId: number, deviceNo: number) => void,
): void {
  for (const row of db.prepare(DELAYED).iterate()) take(row.execution_id as number, row.device_no as number)
}

/**
 * Those of one device in the order of their ids. `partSize` is about how many executions are read at once: their
 * lists stay far below the longest text there can be.
 */
export function readUnfinished(
  db: DatabaseSync,
  take: (jobExecutionId: number, deviceNo: number) => void,
  partSize = 500_000,
): void {
  const firstRun = db.prepare(FIRST)
  const runAt = db.prepare(RUN_AT)
  const part = db.prepare(PART)
  for (const { owner_no } of db.prepare(OWNERS).all()) {
    const ownerNo = owner_no as number
    let first = firstRun.get(ownerNo, 0)
    while (first) {
      const firstRunId = first.run_id as number
      const partEnd = runAt.get((first.first_execution_id as number) + partSize)
      const lastRunId = Math.max(firstRunId, (partEnd?.run_id ?? Number.MAX_SAFE_INTEGER) as number)
      const lists = part.get(ownerNo, firstRunId, lastRunId)
      const executionIds: number[] = JSON.parse(lists?.execution_ids as string)
      const deviceNos: number[] = JSON.parse(lists?.device_nos as string)
      executionIds.forEach((id, index) => {
        take(id, deviceNos[index] as number)
      })
      first = firstRun.get(ownerNo, lastRunId + 1)
    }
  }
}
