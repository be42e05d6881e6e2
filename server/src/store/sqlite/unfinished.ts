// Reads unfinished executions at startup, to rebuild the in-memory queues. Finished runs are not read.

import type { DatabaseSync } from 'node:sqlite'
import { computed, json, notNull, number, rows, select } from '../schema/column.ts'
import {
  deviceAttribute,
  deviceWindow,
  execution,
  owner,
  rollout,
  run,
  runRequest,
} from '../schema/tables.ts'
import type { PrioritizedRun } from './priorities.ts'
import type { WindowedRun } from './windows.ts'

const OWNER = select(owner.pick('ownerNo'))
const OWNERS = `SELECT ${OWNER} FROM owner ORDER BY owner_no` as const
const RUN = select(run.pick('runId', 'firstExecutionId'))
const FIRST = `
  SELECT ${RUN} FROM run
  WHERE owner_no = ? AND run_id >= ? AND pending + in_progress + canceling > 0
  ORDER BY run_id LIMIT 1` as const
const AT = select(execution.pick('runId'))
const RUN_AT = `SELECT ${AT} FROM execution WHERE execution_id >= ? ORDER BY execution_id LIMIT 1` as const
// Returns two JSON lists: a million executions take 0.4 s, while separate rows took 2.6 s. The aggregate gets rows in the order in
// which the two loops find them.
const PART = `
  SELECT json_group_array(execution_id) AS "executionIds", json_group_array(device_no) AS "deviceNos"
  FROM run CROSS JOIN execution
    ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1
  WHERE run.owner_no = ? AND run.run_id BETWEEN ? AND ? AND pending + in_progress + canceling > 0
    AND state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')`

const LISTS = rows({ executionIds: json<number[]>(), deviceNos: json<number[]>() })

const WAITING = select(execution.pick('jobExecutionId', 'deviceNo'))
const DELAYED = `
  SELECT ${WAITING} FROM execution WHERE due_at IS NOT NULL AND not_before IS NOT NULL` as const

const HELD_RANGE = select({
  ...rollout.pick('runId', 'firstExecutionId', 'total'),
  heldFrom: notNull(rollout.fields.heldFrom),
})
const HELD = `
  SELECT ${HELD_RANGE} FROM rollout INDEXED BY rollout_held WHERE held_from IS NOT NULL ORDER BY run_id` as const

/** The unreleased executions of runs that are released in parts; `to` is exclusive. */
export function readHeld(db: DatabaseSync, take: (runId: number, from: number, to: number) => void): void {
  for (const row of db.prepare(HELD).iterate()) {
    const { runId, firstExecutionId, total, heldFrom } = HELD_RANGE.read(row)
    take(runId, heldFrom, firstExecutionId + total)
  }
}

const WINDOWED = select({
  ...run.pick('ownerNo', 'runId'),
  from: run.fields.firstExecutionId,
  to: computed('run.first_execution_id + run.total', number()),
  windowName: notNull(runRequest.fields.window),
  unfinished: computed('run.pending + run.in_progress + run.canceling', number()),
})
const UNDER_WINDOWS = `
  SELECT ${WINDOWED} FROM owner
    CROSS JOIN run INDEXED BY run_unfinished
      ON run.owner_no = owner.owner_no AND run.pending + run.in_progress + run.canceling > 0
    CROSS JOIN run_request ON run_request.run_id = run.run_id
  WHERE window_name IS NOT NULL` as const
const BEGUN_ONE = select(execution.pick('jobExecutionId'))
const BEGUN = `
  SELECT ${BEGUN_ONE} FROM execution WHERE execution_id >= ? AND execution_id < ? AND state IN ('IN_PROGRESS', 'CANCELING')` as const

/** Runs with windows, with their executions that have begun. */
export function readWindowed(db: DatabaseSync, take: (run: WindowedRun, begun: number[]) => void): void {
  const begun = db.prepare(BEGUN)
  for (const row of db.prepare(UNDER_WINDOWS).all()) {
    const windowed = WINDOWED.read(row)
    const found = begun.all(windowed.from, windowed.to).map((each) => BEGUN_ONE.read(each).jobExecutionId)
    take({ ...windowed }, found)
  }
}

const PRIORITIZED = select({
  ...run.pick('runId'),
  from: run.fields.firstExecutionId,
  to: computed('run.first_execution_id + run.total', number()),
  priority: notNull(runRequest.fields.priority),
  unfinished: computed('run.pending + run.in_progress + run.canceling', number()),
})
const WITH_PRIORITY = `
  SELECT ${PRIORITIZED} FROM owner
    CROSS JOIN run INDEXED BY run_unfinished
      ON run.owner_no = owner.owner_no AND run.pending + run.in_progress + run.canceling > 0
    CROSS JOIN run_request ON run_request.run_id = run.run_id
  WHERE priority IS NOT NULL` as const

/** Runs with another priority than the default. */
export function readPrioritized(db: DatabaseSync, take: (run: PrioritizedRun) => void): void {
  for (const row of db.prepare(WITH_PRIORITY).all()) take({ ...PRIORITIZED.read(row) })
}

const ZONE = select({ ...deviceAttribute.pick('deviceNo'), zone: notNull(deviceAttribute.fields.zone) })
const ZONES = `
  SELECT ${ZONE} FROM device_attribute INDEXED BY device_attribute_by_zone WHERE zone IS NOT NULL AND shadowed = 0` as const

export function readZones(db: DatabaseSync, take: (deviceNo: number, zone: string) => void): void {
  for (const row of db.prepare(ZONES).iterate()) {
    const { deviceNo, zone } = ZONE.read(row)
    take(deviceNo, zone)
  }
}

const OF_DEVICE = select(deviceWindow.pick('deviceNo', 'ownerNo', 'windowName'))
const OF_DEVICES = `
  SELECT ${OF_DEVICE} FROM device_window INDEXED BY device_window_current WHERE until_clock IS NULL` as const
const BEGUN_ON = `
  SELECT ${BEGUN_ONE} FROM execution WHERE device_no = ? AND state IN ('IN_PROGRESS', 'CANCELING')` as const

/** Windows of devices, with their executions in progress. */
export function readDeviceWindows(
  db: DatabaseSync,
  take: (deviceNo: number, ownerNo: number, windows: string[], begun: number[]) => void,
): void {
  const devices = new Map<number, { ownerNo: number; windows: Set<string> }>()
  for (const row of db.prepare(OF_DEVICES).iterate()) {
    const { deviceNo, ownerNo, windowName } = OF_DEVICE.read(row)
    const known = devices.get(deviceNo)
    if (known) known.windows.add(windowName)
    else devices.set(deviceNo, { ownerNo, windows: new Set([windowName]) })
  }
  const begun = db.prepare(BEGUN_ON)
  for (const [deviceNo, { ownerNo, windows }] of devices) {
    const found = begun.all(deviceNo).map((each) => BEGUN_ONE.read(each).jobExecutionId)
    take(deviceNo, ownerNo, [...windows].sort(), found)
  }
}

type Take = (jobExecutionId: number, deviceNo: number) => void

/** Executions that wait for a retry. */
export function readDelayed(db: DatabaseSync, take: Take): void {
  for (const row of db.prepare(DELAYED).iterate()) {
    const { jobExecutionId, deviceNo } = WAITING.read(row)
    take(jobExecutionId, deviceNo)
  }
}

/**
 * Executions of one device come in the order of their ids. `partSize` is about the number of executions read at once, which keeps
 * the lists far below the maximum length of a string.
 */
export function readUnfinished(db: DatabaseSync, take: Take, partSize = 500_000): void {
  const firstRun = db.prepare(FIRST)
  const runAt = db.prepare(RUN_AT)
  const part = db.prepare(PART)
  for (const { ownerNo } of db.prepare(OWNERS).all().map(OWNER.read)) {
    let first = firstRun.get(ownerNo, 0)
    while (first) {
      const { runId, firstExecutionId } = RUN.read(first)
      const partEnd = runAt.get(firstExecutionId + partSize)
      const lastRunId = Math.max(runId, partEnd ? AT.read(partEnd).runId : Number.MAX_SAFE_INTEGER)
      const { executionIds, deviceNos } = LISTS.read(part.get(ownerNo, runId, lastRunId) ?? {})
      executionIds.forEach((id, index) => {
        take(id, deviceNos[index] ?? 0)
      })
      first = firstRun.get(ownerNo, lastRunId + 1)
    }
  }
}
