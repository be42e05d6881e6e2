import type { LaunchedRun, Store, StoredExecution } from '../../domain/store.ts'
import { toExecution } from '../from-rows.ts'
import type { Database } from './database.ts'
import type { Queries } from './rows.ts'

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
  'JOIN job ON job.job_no = run.job_no JOIN device ON device.device_no = execution.device_no'

const GET = `
  SELECT ${EXECUTION_COLUMNS} FROM execution JOIN run ON run.run_id = execution.run_id ${EXECUTION_JOINS}
  WHERE execution_id = $1 AND execution.owner_no = $2`
const RUN_AS_LAUNCHED = `
  SELECT job_name, launched_at, first_execution_id, run.version_no, device_id, ${NAME_AT_LAUNCH}
  FROM run JOIN job USING (job_no)
    JOIN execution ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
    JOIN device ON device.device_no = execution.device_no
  WHERE run.run_id = $1 ORDER BY execution.execution_id`

export function buildExecutionSteps(db: Database): Pick<Store, 'getExecution'> {
  return { getExecution: ({ ownerNo, jobExecutionId }) => getExecution(db, ownerNo, jobExecutionId) }
}

export async function getExecution(
  queries: Queries,
  ownerNo: number,
  jobExecutionId: number,
): Promise<StoredExecution | undefined> {
  const [row] = await queries.query(GET, [jobExecutionId, ownerNo])
  return row && toExecution(row)
}

/** What the trigger that made this run was answered with. */
export async function getLaunchedRun(queries: Queries, runId: number): Promise<LaunchedRun> {
  const rows = await queries.query(RUN_AS_LAUNCHED, [runId])
  const [first] = rows
  if (first === undefined) throw new Error(`there is no run ${runId}`)
  return {
    runId,
    jobName: first.job_name as string,
    launchedAt: first.launched_at as number,
    firstExecutionId: first.first_execution_id as number,
    jobVersion: first.version_no as number,
    devices: rows.map((row) => ({
      deviceId: row.device_id as string,
      deviceName: row.device_name as string,
    })),
  }
}
