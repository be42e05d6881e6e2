// The fleet as a whole: levels from the runs that have not ended, the last execution of each device by its index, and
// what went from state to state by the event log.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecState } from '@jobcast/contract'
import type { FleetLevels, Flow, StoredFleetDevice, WaitingExecution } from '../../domain/fleet-store.ts'
import type { Slice, Sliced } from '../../domain/store.ts'
import { stateOf } from '../from-rows.ts'
import { inSnapshot } from './database.ts'
import { type Row, sliced } from './rows.ts'

// The condition of run_unfinished: runs that have ended, however many, are not looked at.
const LEVELS = `
  SELECT coalesce(sum(pending), 0) AS waiting, coalesce(sum(in_progress + canceling), 0) AS running
  FROM run WHERE owner_no = ? AND pending + in_progress + canceling > 0`
const ONLINE = 'SELECT count(*) AS online FROM device WHERE online = 1 AND owner_no = ?'
// Ids of runs and of executions grow together, so the first run that has one waiting has the oldest.
const FIRST_WAITING = `
  SELECT run_id, job_name, launched_at, first_execution_id AS first, first_execution_id + total - 1 AS last
  FROM run JOIN job USING (job_no)
  WHERE run.owner_no = ? AND pending + in_progress + canceling > 0 AND pending > 0
  ORDER BY run_id LIMIT 1`
const OLDEST_WAITING = `
  SELECT execution_id, device_id FROM execution CROSS JOIN device ON device.device_no = execution.device_no
  WHERE execution_id BETWEEN ? AND ? AND state = 'PENDING' ORDER BY execution_id LIMIT 1`
const DEVICES = `
  SELECT device_id, online, last.execution_id, last.state
  FROM device LEFT JOIN execution AS last ON last.execution_id = (
    SELECT execution_id FROM execution WHERE device_no = device.device_no AND state <> 'PENDING'
    ORDER BY execution_id DESC LIMIT 1)
  WHERE device.owner_no = ? AND device_id > ? AND deleted_at IS NULL
  ORDER BY device_id LIMIT ?`
const CHANGES = `
  SELECT event_id, at, type, from_state, total FROM event LEFT JOIN run ON run.run_id = event.run_id
  WHERE event.owner_no = ? AND event_id > ? ORDER BY event_id LIMIT ?`

/** How many one look goes through: a hundredth of a second or two. */
const lookedAt = 20_000

export function prepareFleet(db: DatabaseSync) {
  const levels = db.prepare(LEVELS)
  const online = db.prepare(ONLINE)
  const firstWaiting = db.prepare(FIRST_WAITING)
  const oldestWaiting = db.prepare(OLDEST_WAITING)
  const devices = db.prepare(DEVICES)
  const changes = db.prepare(CHANGES)

  function findOldestWaiting(ownerNo: number): WaitingExecution | undefined {
    const run = firstWaiting.get(ownerNo)
    const execution = run && oldestWaiting.get(run.first as number, run.last as number)
    if (!execution) return undefined
    return {
      jobExecutionId: execution.execution_id as number,
      runId: run.run_id as number,
      jobName: run.job_name as string,
      deviceId: execution.device_id as string,
      launchedAt: run.launched_at as number,
    }
  }

  return {
    /** How many devices there are is known in memory. */
    getFleetLevels: (ownerNo: number): Omit<FleetLevels, 'devices'> =>
      inSnapshot(db, () => ({
        online: online.get(ownerNo)?.online as number,
        waiting: levels.get(ownerNo)?.waiting as number,
        running: levels.get(ownerNo)?.running as number,
        oldestWaiting: findOldestWaiting(ownerNo),
      })),
    /** Without what waits, which is in no index by device. */
    listFleetDevices(input: { ownerNo: number; slice: Slice<string> }): Sliced<StoredFleetDevice, string> {
      const { after = '', limit } = input.slice
      const rows = devices.all(input.ownerNo, after, limit + 1)
      return sliced(rows.map(toFleetDevice), limit, (device) => device.deviceId)
    },
    countFlows(input: { ownerNo: number; after: number; stepMs: number }) {
      const flows = new Map<string, Flow>()
      let upTo = input.after
      let looked = 0
      for (const row of changes.iterate(input.ownerNo, input.after, lookedAt)) {
        looked++
        upTo = row.event_id as number
        const flow = flowOf(row, input.stepMs)
        if (flow === undefined) continue
        const name = `${flow.stepNo} ${flow.from} ${flow.to}`
        const known = flows.get(name)
        if (known) known.count += flow.count
        else flows.set(name, flow)
      }
      return { flows: [...flows.values()], upTo, more: looked === lookedAt }
    },
  }
}

function toFleetDevice(row: Row): StoredFleetDevice {
  const { execution_id, state } = row
  const lastExecution =
    execution_id === null ? null : { jobExecutionId: execution_id as number, execState: state as ExecState }
  return { deviceId: row.device_id as string, online: row.online === 1, lastExecution }
}

function flowOf(row: Row, stepMs: number): Flow | undefined {
  const type = row.type as string
  const stepNo = Math.floor((row.at as number) / stepMs)
  if (type === 'run.created') return { stepNo, from: null, to: 'PENDING', count: row.total as number }
  if (row.from_state === null || type === 'execution.progress') return undefined
  const to = stateOf(row)
  return { stepNo, from: row.from_state as ExecState, to, count: 1 }
}
