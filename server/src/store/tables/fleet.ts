// The fleet as a whole: levels from unfinished runs, the last execution of each device by its indexes, and state changes from
// the event log.

import type { ExecState } from '@jobcast/contract'
import type {
  FleetLevels,
  Flow,
  StoredFleetDevice,
  WaitingExecution,
} from '../../domain/device/ports/fleet.ts'
import { inBoth, type Queries, type Sql, sliced, type Values } from '../queries.ts'
import { number, orNull, rows, select } from '../schema/column.ts'
import { device, event, execution, job, run } from '../schema/tables.ts'
import { stateOf } from './events.ts'
import { jobValues, ofJobs, unfinishedOn } from './run-fields.ts'
import type { ReadSteps } from './step.ts'

type OfJobs = { ownerNo: number; jobs?: readonly string[] }

const andOfJobs = (jobs: readonly string[] | undefined) => (jobs === undefined ? '' : `AND ${ofJobs(jobs)}`)
const levelsOf = (jobs: readonly string[] | undefined) =>
  inBoth(
    ({ is }) => `
  SELECT coalesce(sum(pending), 0) AS waiting, coalesce(sum(in_progress + canceling), 0) AS running,
    (SELECT count(*) FROM device WHERE owner_no = :ownerNo AND online ${is === 'sqlite' ? '= 1' : ''}) AS online
  FROM run WHERE owner_no = :ownerNo AND ${unfinishedOn[is]} ${andOfJobs(jobs)}`,
  )
const DEVICES = 'SELECT count(*) AS devices FROM device WHERE owner_no = :ownerNo AND deleted_at IS NULL'
// Ids of executions have the order of the ids of runs, so the first run with a waiting execution has the oldest one.
const FIRST = select({
  ...run.pick('runId', 'launchedAt', 'firstExecutionId', 'total'),
  ...job.pick('jobName'),
})
const firstWaiting = (jobs: readonly string[] | undefined) =>
  inBoth(
    ({ is, join }) => `
  SELECT ${FIRST} FROM run ${join} job ON job.job_no = run.job_no
  WHERE run.owner_no = :ownerNo AND ${unfinishedOn[is]} AND pending > 0 ${andOfJobs(jobs)} ORDER BY run_id LIMIT 1`,
  )
const WAITING = select({ ...execution.pick('jobExecutionId'), ...device.pick('deviceId') })
const OLDEST_WAITING = inBoth(
  ({ join }) => `
  SELECT ${WAITING} FROM execution ${join} device ON device.device_no = execution.device_no
  WHERE execution_id BETWEEN :first AND :last AND state = 'PENDING' ORDER BY execution_id LIMIT 1`,
)

const FLEET_DEVICE = rows({
  ...device.pick('deviceId', 'online', 'tags'),
  ...{
    runningId: orNull(execution.fields.jobExecutionId),
    runningState: orNull(execution.fields.execState),
    jobExecutionId: orNull(execution.fields.jobExecutionId),
    execState: orNull(execution.fields.execState),
    endedId: orNull(execution.fields.jobExecutionId),
    endedState: orNull(execution.fields.execState),
  },
})
const newest = (which: string) => `
  (SELECT execution_id, state FROM execution WHERE device_no = device.device_no AND state ${which}
   ORDER BY execution_id DESC LIMIT 1)`
const listDevices = (isPart: boolean) =>
  inBoth(({ is, isIn }) => {
    // SQLite has no index of waiting executions by device; it has them in memory. On PostgreSQL each execution is in one of two indexes.
    const last =
      is === 'sqlite'
        ? `execution AS last ON last.execution_id = (
    SELECT execution_id FROM execution WHERE device_no = device.device_no AND state <> 'PENDING'
    ORDER BY execution_id DESC LIMIT 1)`
        : `LATERAL (
    SELECT * FROM (${newest("<= 'CANCELING'")} UNION ALL ${newest("> 'CANCELING'")}) AS newest
    ORDER BY execution_id DESC LIMIT 1) AS last ON true`
    const running =
      is === 'sqlite'
        ? `execution AS running ON running.execution_id = (
    SELECT execution_id FROM execution WHERE device_no = device.device_no AND state IN ('IN_PROGRESS', 'CANCELING')
    ORDER BY execution_id LIMIT 1)`
        : `LATERAL (
    SELECT execution_id, state FROM execution
    WHERE device_no = device.device_no AND state <= 'CANCELING' AND state > 'PENDING' ORDER BY execution_id LIMIT 1
  ) AS running ON true`
    const ended =
      is === 'sqlite'
        ? `execution AS ended ON ended.execution_id = (
    SELECT execution_id FROM execution WHERE device_no = device.device_no AND state <> 'PENDING'
      AND state NOT IN ('IN_PROGRESS', 'CANCELING') ORDER BY execution_id DESC LIMIT 1)`
        : `LATERAL ${newest("> 'CANCELING'")} AS ended ON true`
    return `
  SELECT device_id AS "deviceId", online, tags, ended.execution_id AS "endedId", ended.state AS "endedState",
    last.execution_id AS "jobExecutionId", last.state AS "execState",
    running.execution_id AS "runningId", running.state AS "runningState"
  FROM device LEFT JOIN ${last} LEFT JOIN ${running} LEFT JOIN ${ended}
  WHERE device.owner_no = :ownerNo AND device_id > :after AND deleted_at IS NULL
    ${isPart ? `AND ${isIn('device_id', 'deviceIds', 'text')}` : ''} ORDER BY device_id LIMIT :limit`
  })
const LIST_DEVICES = listDevices(false)
const LIST_PART = listDevices(true)

const FLOW = rows({
  ...event.pick('from', 'type'),
  ...{ stepNo: number(), count: orNull(number()), upTo: number(), read: number() },
})
// Events of other jobs are read too, so that the cursor advances past them.
const countFlows = (jobs: readonly string[] | undefined) => `
  WITH read AS MATERIALIZED (
    SELECT event_id, at, type, from_state, run_id FROM event
    WHERE owner_no = :ownerNo AND event_id > :after ORDER BY event_id LIMIT :limit)
  SELECT at / CAST(:stepMs AS bigint) AS "stepNo", from_state AS "from", type,
    CAST(sum(CASE ${jobs === undefined ? '' : 'WHEN run.run_id IS NULL THEN 0'}
      WHEN from_state IS NULL THEN total ELSE 1 END) AS bigint) AS count,
    (SELECT max(event_id) FROM read) AS "upTo", (SELECT count(*) FROM read) AS read
  FROM read LEFT JOIN run ON ${jobs === undefined ? 'from_state IS NULL' : ofJobs(jobs)} AND run.run_id = read.run_id
  GROUP BY 1, 2, 3`

/** Events that one call reads, which takes 10 to 20 ms. */
const readAtOnce = 20_000

const SERVICE = rows({ pending: number(), running: number(), oldestPendingAt: orNull(number()) })
const SERVICE_LEVELS = inBoth(
  ({ is, by }) => `
  SELECT coalesce(sum(pending), 0) AS pending, coalesce(sum(in_progress + canceling), 0) AS running,
    min(CASE WHEN pending > 0 THEN launched_at END) AS "oldestPendingAt"
  FROM run ${by('run_unfinished')} WHERE ${unfinishedOn[is]}`,
)

export const fleetReads: ReadSteps<'listFleetDevices' | 'countFlows' | 'readServiceLevels'> = {
  readServiceLevels: (queries) => queries.one(SERVICE, SERVICE_LEVELS),
  async listFleetDevices(queries, { ownerNo, deviceIds, slice: { after = '', limit } }) {
    const values: Values = {
      ownerNo,
      after,
      limit: limit + 1,
      ...(deviceIds && { deviceIds: [...deviceIds] }),
    }
    const sql: Sql = deviceIds ? LIST_PART : LIST_DEVICES
    const found = await queries.all(FLEET_DEVICE, sql, values)
    return sliced(found.map(toFleetDevice), limit, ({ deviceId }) => deviceId)
  },
  async countFlows(queries, { ownerNo, jobs, after, stepMs }) {
    const values: Values = { ownerNo, after, stepMs, limit: readAtOnce, ...jobValues(jobs) }
    const sql: Sql = countFlows(jobs)
    const found = await queries.all(FLOW, sql, values)
    const [first] = found
    return { flows: found.flatMap(toFlow), upTo: first?.upTo ?? after, more: first?.read === readAtOnce }
  },
}

/** On SQLite the number of devices is in memory. */
export async function readLevels(queries: Queries, wanted: OfJobs): Promise<Omit<FleetLevels, 'devices'>> {
  const { ownerNo, jobs } = wanted
  const levels = rows({ waiting: number(), running: number(), online: number() })
  const sql: Sql = levelsOf(jobs)
  const values: Values = { ownerNo, ...jobValues(jobs) }
  const { waiting, running, online } = await queries.one(levels, sql, values)
  return { waiting, running, online, oldestWaiting: await findOldestWaiting(queries, wanted) }
}

export const fleetSnapshots: ReadSteps<'getFleetLevels'> = {
  async getFleetLevels(queries, wanted) {
    const { ownerNo } = wanted
    const { devices } = await queries.one(rows({ devices: number() }), DEVICES, { ownerNo })
    return { devices, ...(await readLevels(queries, wanted)) }
  },
}

async function findOldestWaiting(
  queries: Queries,
  { ownerNo, jobs }: OfJobs,
): Promise<WaitingExecution | undefined> {
  const sql: Sql = firstWaiting(jobs)
  const values: Values = { ownerNo, ...jobValues(jobs) }
  const run = await queries.get(FIRST, sql, values)
  if (run === undefined) return undefined
  const { runId, jobName, launchedAt, firstExecutionId: first, total } = run
  const waiting = await queries.get(WAITING, OLDEST_WAITING, { first, last: first + total - 1 })
  return waiting && { ...waiting, runId, jobName, launchedAt }
}

function toFleetDevice(row: ReturnType<typeof FLEET_DEVICE.read>): StoredFleetDevice {
  const { deviceId, online, tags } = row
  return {
    ...{ deviceId, online, tags },
    lastExecution: executionOf(row.jobExecutionId, row.execState),
    lastEnded: executionOf(row.endedId, row.endedState),
    running: executionOf(row.runningId, row.runningState),
  }
}

function executionOf(jobExecutionId: number | null, execState: ExecState | null) {
  return jobExecutionId !== null && execState !== null ? { jobExecutionId, execState } : null
}

type CountedEvents = Pick<ReturnType<typeof FLOW.read>, 'type' | 'stepNo' | 'from' | 'count'>

export function toFlow({ type, stepNo, from, count }: CountedEvents): Flow[] {
  if (type === 'run.created') return count ? [{ stepNo, from: null, to: 'PENDING', count }] : []
  if (from === null || type === 'execution.progress') return []
  return count ? [{ stepNo, from, to: stateOf({ type, from }), count }] : []
}
