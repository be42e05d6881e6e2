import { toDeviceExecution } from '../../domain/execution/execution-move.ts'
import type { StoredExecution } from '../../domain/execution/ports/executions.ts'
import type { LaunchedRun } from '../../domain/trigger/launched-run.ts'
import { isInWindow, isNotFrozen, isReleased, LIVE, liveJoins, priorityOf } from '../live-executions.ts'
import { inBoth, type Queries } from '../queries.ts'
import { computed, select, text } from '../schema/column.ts'
import { device, execution, job, run } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { WINDOW_OF_RUN } from './run-fields.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const deviceName = computed(
  `coalesce(
    (SELECT device_rename.device_name FROM device_rename
     WHERE device_rename.device_no = execution.device_no AND last_execution_id >= execution.execution_id
     ORDER BY last_execution_id LIMIT 1),
    device.device_name)`,
  text(),
)

/** The columns of all statements that read executions. */
export const EXECUTION = select({
  ...execution.pick('jobExecutionId', 'execState', 'runId', 'attempt', 'versionNumber', 'startedAt'),
  ...execution.pick('finishedAt', 'notifiedAt', 'deliveredAt', 'notBefore', 'statusDetails', 'result'),
  ...{ ...execution.pick('outputBytes', 'outputCut'), priority: priorityOf('execution') },
  ...{ ...job.pick('jobName'), ...run.pick('launchedAt'), ...device.pick('deviceId'), deviceName },
})
const GET = inBoth(
  ({ join }) => `
  SELECT ${EXECUTION} FROM execution ${join} run ON run.run_id = execution.run_id
    ${join} job ON job.job_no = run.job_no ${join} device ON device.device_no = execution.device_no
  WHERE execution.execution_id = :jobExecutionId AND execution.owner_no = :ownerNo`,
)
const LAUNCHED = select({
  ...run.pick('launchedAt', 'firstExecutionId', 'jobVersion'),
  ...{ window: WINDOW_OF_RUN, priority: execution.fields.priority },
  ...{ ...job.pick('jobName'), ...device.pick('deviceId'), deviceName },
})
const AS_LAUNCHED = inBoth(
  ({ join }) => `
  SELECT ${LAUNCHED} FROM run ${join} job ON job.job_no = run.job_no
    ${join} execution ON execution.execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
    ${join} device ON device.device_no = execution.device_no
  WHERE run.run_id = :runId ORDER BY execution.execution_id`,
)

const OF_DEVICE = inBoth(
  ({ is, join }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE execution_id = :jobExecutionId AND device.owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL
    AND ${isReleased[is]} ${is === 'sqlite' ? '' : `AND (state <> 'PENDING' OR (${isNotFrozen} AND ${isInWindow}))`}`,
)
const NOTIFIED = inBoth(
  ({ wanted }) => `
  UPDATE execution SET notified_at = :at FROM ${wanted('ids')}
  WHERE execution_id = wanted.id AND notified_at IS NULL`,
)
// Finds the row by its id: the casts prevent PostgreSQL from scanning the indexes of running executions or of timers.
const DELAY = inBoth(
  ({ wanted }) => `
  UPDATE execution SET due_at = due_at + :byMs FROM ${wanted('ids')}
  WHERE execution_id = wanted.id AND CAST(state AS text) = 'IN_PROGRESS' AND started_at = :startedAt
    AND due_at + 0 IS NOT NULL`,
)
const DELIVERED = inBoth(
  ({ wanted }) => `
  UPDATE execution SET delivered_at = :at, notified_at = coalesce(notified_at, :at) FROM ${wanted('ids')}
  WHERE execution_id = wanted.id AND delivered_at IS NULL`,
)

export const executionReads: ReadSteps<'getExecution' | 'getDeviceExecution'> = {
  async getExecution(queries, { ownerNo, jobExecutionId }) {
    const row = await queries.get(EXECUTION, GET, { ownerNo, jobExecutionId })
    return row && toExecution(row)
  },
  async getDeviceExecution(queries, execution) {
    const live = await queries.get(LIVE, OF_DEVICE, partOf(OF_DEVICE, execution))
    return live && toDeviceExecution(live)
  },
}

export const executionWrites: WriteSteps<'recordDeliveries' | 'delayTimeouts'> = {
  async delayTimeouts(queries, { jobExecutionIds, startedAt, byMs }) {
    const ids = jobExecutionIds.toSorted((a, b) => a - b)
    await queries.run(DELAY, { ids, startedAt, byMs })
  },
  async recordDeliveries(queries, { notified, delivered, at }) {
    // Always in the same order, to prevent deadlocks between nodes.
    const inOrder = (ids: number[]) => [...new Set(ids)].sort((a, b) => a - b)
    // Delivered executions are also recorded as notified: after a fan-out with QoS 1 these are most of them.
    const both = new Set(delivered)
    const rest = notified.filter((id) => !both.has(id))
    if (rest.length > 0) await queries.run(NOTIFIED, { ids: inOrder(rest), at })
    if (delivered.length > 0) await queries.run(DELIVERED, { ids: inOrder(delivered), at })
  },
}

export function toExecution(row: ReturnType<typeof EXECUTION.read>): StoredExecution {
  return Object.assign(row, { statusDetails: row.statusDetails ?? {} })
}

/** The response to the trigger that created this run. */
export async function getLaunchedRun(queries: Queries, { runId }: { runId: number }): Promise<LaunchedRun> {
  const found = await queries.all(LAUNCHED, AS_LAUNCHED, { runId })
  const [first] = found
  if (first === undefined) throw new Error(`there is no run ${runId}`)
  const { jobName, launchedAt, firstExecutionId, jobVersion, window, priority } = first
  const devices = found.map(({ deviceId, deviceName }) => ({ deviceId, deviceName }))
  const windowed = window === null ? undefined : { isWindowed: true as const }
  return {
    runId,
    jobName,
    launchedAt,
    firstExecutionId,
    jobVersion,
    devices,
    ...windowed,
    ...(priority !== null && { priority }),
  }
}
