// The fleet as a whole: levels from the runs that have not ended, the last execution of each device by its indexes, and
// what went from state to state by the event log.

import type { ExecState } from '@jobcast/contract'
import type { FleetStore, Flow, StoredFleetDevice, WaitingExecution } from '../../domain/fleet-store.ts'
import { stateOf } from '../from-rows.ts'
import type { Database } from './database.ts'
import { type Queries, type Row, sliced } from './rows.ts'

const DEVICES_COUNT = `
  SELECT count(*)::int AS devices, (SELECT count(*)::int FROM device WHERE online AND owner_no = $1) AS online
  FROM device WHERE owner_no = $1 AND deleted_at IS NULL`
const LEVELS = `
  SELECT coalesce(sum(pending), 0)::int AS waiting, coalesce(sum(in_progress + canceling), 0)::int AS running
  FROM run WHERE owner_no = $1 AND NOT ended`
// Ids of executions are given in the order of those of runs, so the first run that has one waiting has the oldest.
const OLDEST_WAITING = `
  SELECT run.run_id, job_name, launched_at, first.execution_id, device_id
  FROM (
      SELECT * FROM run WHERE owner_no = $1 AND NOT ended AND pending > 0 ORDER BY run_id LIMIT 1) AS run
    JOIN job USING (job_no)
    CROSS JOIN LATERAL (
      SELECT execution_id, device_no FROM execution
      WHERE execution_id BETWEEN first_execution_id AND first_execution_id + total - 1 AND state = 'PENDING'
      ORDER BY execution_id LIMIT 1) AS first
    JOIN device ON device.device_no = first.device_no`
// Each execution is in one of the two indexes by device.
const newest = (which: string) => `
  (SELECT execution_id, state FROM execution WHERE device_no = device.device_no AND state ${which} 'CANCELING'
   ORDER BY execution_id DESC LIMIT 1)`
const DEVICES = `
  SELECT device_id, online, last.execution_id, last.state
  FROM (
      SELECT device_no, device_id, online FROM device
      WHERE owner_no = $1 AND device_id > $2 AND deleted_at IS NULL ORDER BY device_id LIMIT $3) AS device
    LEFT JOIN LATERAL (
      SELECT * FROM (${newest('<=')} UNION ALL ${newest('>')}) AS newest
      ORDER BY execution_id DESC LIMIT 1) AS last ON true
  ORDER BY device_id`
const FLOWS = `
  WITH looked_at AS MATERIALIZED (
    SELECT event_id, at, type, from_state, run_id FROM event
    WHERE owner_no = $1 AND event_id > $2 ORDER BY event_id LIMIT $4)
  SELECT at / $3::bigint AS step_no, from_state, type, sum(CASE WHEN from_state IS NULL THEN total ELSE 1 END)::int AS count,
    (SELECT max(event_id) FROM looked_at) AS up_to, (SELECT count(*)::int FROM looked_at) AS looked
  FROM looked_at LEFT JOIN run ON from_state IS NULL AND run.run_id = looked_at.run_id
  GROUP BY 1, 2, 3`

const lookedAt = 20_000

export function buildFleetSteps(db: Database): FleetStore {
  return {
    getFleetLevels: ({ ownerNo }) =>
      db.inSnapshot(async (reads) => {
        const [counts] = await reads.query(DEVICES_COUNT, [ownerNo])
        const [levels] = await reads.query(LEVELS, [ownerNo])
        return {
          devices: counts?.devices as number,
          online: counts?.online as number,
          waiting: levels?.waiting as number,
          running: levels?.running as number,
          oldestWaiting: await findOldestWaiting(reads, ownerNo),
        }
      }),
    async listFleetDevices({ ownerNo, slice: { after = '', limit } }) {
      const rows = await db.query(DEVICES, [ownerNo, after, limit + 1])
      return sliced(rows.map(toFleetDevice), limit, (device) => device.deviceId)
    },
    async countFlows({ ownerNo, after, stepMs }) {
      const rows = await db.query(FLOWS, [ownerNo, after, stepMs, lookedAt])
      return {
        flows: rows.flatMap(toFlow),
        upTo: (rows[0]?.up_to as number | undefined) ?? after,
        more: rows[0]?.looked === lookedAt,
      }
    },
  }
}

async function findOldestWaiting(reads: Queries, ownerNo: number): Promise<WaitingExecution | undefined> {
  const [row] = await reads.query(OLDEST_WAITING, [ownerNo])
  return (
    row && {
      jobExecutionId: row.execution_id as number,
      runId: row.run_id as number,
      jobName: row.job_name as string,
      deviceId: row.device_id as string,
      launchedAt: row.launched_at as number,
    }
  )
}

function toFleetDevice(row: Row): StoredFleetDevice {
  const { execution_id, state } = row
  const lastExecution =
    execution_id === null ? null : { jobExecutionId: execution_id as number, execState: state as ExecState }
  return { deviceId: row.device_id as string, online: row.online as boolean, lastExecution }
}

function toFlow({ type, step_no, from_state, count }: Row): Flow[] {
  const stepNo = step_no as number
  if (type === 'run.created') {
    return [{ stepNo, from: null, to: 'PENDING', count: count as number }]
  }
  if (from_state === null || type === 'execution.progress') return []
  const to = stateOf({ type, from_state })
  return [{ stepNo, from: from_state as ExecState, to, count: count as number }]
}
