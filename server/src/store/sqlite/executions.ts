import type { DatabaseSync } from 'node:sqlite'
import type { LaunchedRun, StoredExecution } from '../../domain/store.ts'
import { toExecution } from '../from-rows.ts'

const NAME_AT_LAUNCH = `
  coalesce(
    (SELECT device_rename.device_name FROM device_rename
     WHERE device_rename.device_no = execution.device_no AND last_execution_id >= execution.execution_id
     ORDER BY last_execution_id LIMIT 1),
    device.device_name) AS device_name`

/** Every reader of executions selects these, whichever way it finds its rows. */
export const EXECUTION_COLUMNS = `
  execution.execution_id, job_name, device_id, launched_at, execution.run_id, state, attempt, version_number,
  started_at, finished_at, notified_at, delivered_at, not_before, status_details, result, output_bytes, output_cut,
  ${NAME_AT_LAUNCH}`
export const EXECUTION_JOINS =
  'CROSS JOIN job ON job.job_no = run.job_no CROSS JOIN device ON device.device_no = execution.device_no'

const GET = `
  SELECT ${EXECUTION_COLUMNS} FROM execution JOIN run USING (run_id) ${EXECUTION_JOINS}
  WHERE execution_id = ? AND execution.owner_no = ?`
const RUN_AS_LAUNCHED = `
  SELECT job_name AS jobName, launched_at AS launchedAt, first_execution_id AS firstExecutionId,
    run.version_no AS jobVersion
  FROM run JOIN job USING (job_no) WHERE run_id = ?`
const DEVICES_AS_LAUNCHED = `
  SELECT device_id, ${NAME_AT_LAUNCH} FROM run CROSS JOIN execution
    ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
    CROSS JOIN device ON device.device_no = execution.device_no
  WHERE run.run_id = ? ORDER BY execution.execution_id`
const INSERT = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
  SELECT ? + wanted.key, ?, ?, wanted.value, 'PENDING', 1, 1
  FROM json_each(?) AS wanted`
export type NewExecutions = {
  firstExecutionId: number
  runId: number
  ownerNo: number
  deviceNos: Int32Array
}

export function prepareExecutions(db: DatabaseSync) {
  const get = db.prepare(GET)
  const runAsLaunched = db.prepare(RUN_AS_LAUNCHED)
  const devicesAsLaunched = db.prepare(DEVICES_AS_LAUNCHED)
  const insert = db.prepare(INSERT)

  function getExecution(input: { ownerNo: number; jobExecutionId: number }): StoredExecution | undefined {
    const row = get.get(input.jobExecutionId, input.ownerNo)
    return row && toExecution(row)
  }

  return {
    getExecution,
    /** What the trigger that made this run was answered with. */
    getLaunchedRun(runId: number): LaunchedRun {
      const run = runAsLaunched.get(runId)
      if (run === undefined) throw new Error(`there is no run ${runId}`)
      const devices = devicesAsLaunched.all(runId).map((row) => ({
        deviceId: row.device_id as string,
        deviceName: row.device_name as string,
      }))
      return {
        ...(run as Pick<LaunchedRun, 'jobName' | 'launchedAt' | 'firstExecutionId' | 'jobVersion'>),
        runId,
        devices,
      }
    },
    insertExecutions({ firstExecutionId, runId, ownerNo, deviceNos }: NewExecutions): void {
      insert.run(firstExecutionId, runId, ownerNo, `[${deviceNos.join(',')}]`)
    },
  }
}
