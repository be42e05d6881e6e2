// Executions as both stores load them, to move them or to show them to their device.

import { defaultZone, zoneAttribute } from '../domain/device-zone.ts'
import type { LiveExecution } from '../domain/execution-move.ts'
import { deadlineByRelease } from '../domain/launch-run.ts'
import { openEverywhere } from '../domain/open-zones.ts'
import { columnOf, inBoth } from './queries.ts'
import {
  computed,
  type Dialect,
  number,
  orNull,
  type Row,
  type Selection,
  select,
  text,
} from './schema/column.ts'
import { device, execution, run } from './schema/tables.ts'

/** Of the tables execution, run and device (liveJoins). */
const ROW = select({
  ...execution.pick('jobExecutionId', 'runId', 'ownerNo', 'deviceNo', 'versionNumber', 'updatedAt'),
  ...execution.pick('notifiedAt', 'deliveredAt', 'seenReports', 'cancelVersion', 'outputBytes', 'outputCut'),
  ...execution.pick('outputPieces', 'progressAt', 'progressHeld', 'progressBytes'),
  ...execution.pick('execState', 'attempt', 'startedAt', 'finishedAt', 'notBefore', 'dueAt'),
  ...run.pick('jobVersion', 'launchedAt', 'traceParent'),
  // Of a run that is released little by little, its release says it.
  deadlineAt: computed(
    `CASE WHEN run.deadline_at = ${deadlineByRelease} THEN (
      SELECT rollout_release.deadline_at FROM rollout_release
      WHERE rollout_release.run_id = execution.run_id AND last_execution_id >= execution.execution_id
        AND rollout_release.first_execution_id <= execution.execution_id)
    ELSE run.deadline_at END`,
    run.fields.deadlineAt,
  ),
  ...device.pick('deviceId'),
  // As text: most moves write it back as it is.
  statusDetails: computed('execution.status_details', orNull(text())),
})
export const LIVE: Selection<LiveExecution> = { toString: ROW.toString, read: toLive }

export const liveJoins = (join: string) =>
  `${join} run ON run.run_id = execution.run_id ${join} device ON device.device_no = execution.device_no`

/** As the indexes say it. */
export const isUnfinished: Readonly<Record<Dialect, string>> = {
  sqlite: "state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')",
  postgres: "state <= 'CANCELING'",
}

const notHeld = (columns: string) => `NOT EXISTS (
    SELECT ${columns} FROM rollout WHERE rollout.run_id = execution.run_id AND held_from <= execution.execution_id)`

/** On PostgreSQL; SQLite knows it in memory. */
export const isNotFrozen =
  'NOT EXISTS (SELECT FROM fleet_freeze WHERE fleet_freeze.owner_no = execution.owner_no)'

/**
 * The same of the window of its run, where there is one: it is closed in the zone of the device. Only of what has not begun.
 */
export const isInWindow = `NOT EXISTS (
    SELECT FROM run_request LEFT JOIN offer_window
      ON offer_window.owner_no = execution.owner_no AND offer_window.window_name = run_request.window_name
    WHERE run_request.run_id = execution.run_id AND run_request.window_name IS NOT NULL
      AND strpos(coalesce(open_zones, ''), '${openEverywhere}') = 0
      AND strpos(coalesce(open_zones, ''), '|' || coalesce((
        SELECT zone FROM device_attribute
        WHERE device_attribute.device_no = execution.device_no AND device_attribute.name = '${zoneAttribute}'
          AND NOT shadowed), '${defaultZone}') || '|') = 0)`

/** It may be offered to its device, unless its owner's fleet is frozen. */
export const isReleased: Readonly<Record<Dialect, string>> = { sqlite: notHeld('1'), postgres: notHeld('') }

/** The ids of a run's executions. */
export const RUN_RANGE = select({
  ...run.pick('runId'),
  first: run.fields.firstExecutionId,
  last: computed('run.first_execution_id + run.total - 1', number()),
})

function toLive(row: Row): LiveExecution {
  const found = ROW.read(row)
  return {
    jobExecutionId: found.jobExecutionId,
    runId: found.runId,
    ownerNo: found.ownerNo,
    deviceNo: found.deviceNo,
    deviceId: found.deviceId,
    versionNumber: found.versionNumber,
    jobVersion: found.jobVersion,
    traceParent: found.traceParent,
    launchedAt: found.launchedAt,
    updatedAt: found.updatedAt,
    notifiedAt: found.notifiedAt,
    deliveredAt: found.deliveredAt,
    statusDetails: found.statusDetails,
    newResult: null,
    seenReports: found.seenReports,
    cancelVersion: found.cancelVersion,
    outputBytes: found.outputBytes,
    outputCut: found.outputCut,
    outputPieces: found.outputPieces,
    progressAt: found.progressAt,
    progressHeld: found.progressHeld,
    progressBytes: found.progressBytes,
    life: {
      execState: found.execState,
      attempt: found.attempt,
      startedAt: found.startedAt,
      finishedAt: found.finishedAt,
      notBefore: found.notBefore,
      dueAt: found.dueAt,
      deadlineAt: found.deadlineAt,
    },
  }
}

// All that a move may change is read and written: on PostgreSQL a row is locked from the one to the other.
const written = {
  ...execution.pick('execState', 'attempt', 'versionNumber', 'startedAt', 'finishedAt', 'notBefore', 'dueAt'),
  ...execution.pick('updatedAt', 'notifiedAt', 'deliveredAt', 'statusDetails', 'seenReports'),
  ...execution.pick('cancelVersion', 'outputBytes', 'outputCut', 'outputPieces', 'result'),
  ...execution.pick('progressAt', 'progressHeld', 'progressBytes'),
}
/** For rows as toWritten gives them. */
export const UPDATE_EXECUTION = inBoth(({ is, field, records }) => {
  const changes = Object.entries(written).map(([name, of]) =>
    name === 'result'
      ? `result = coalesce(${field(name)}, execution.result)`
      : `${columnOf(of)} = ${field(name)}`,
  )
  const from =
    is === 'sqlite' ? '' : `FROM ${records('rows', { ...execution.pick('jobExecutionId'), ...written })}`
  return `UPDATE execution SET ${changes.join(', ')} ${from} WHERE execution.execution_id = ${field('jobExecutionId')}`
})

export function toWritten(live: LiveExecution) {
  return {
    ...live.life,
    jobExecutionId: live.jobExecutionId,
    versionNumber: live.versionNumber,
    updatedAt: live.updatedAt,
    notifiedAt: live.notifiedAt,
    deliveredAt: live.deliveredAt,
    statusDetails: live.statusDetails,
    seenReports: live.seenReports,
    cancelVersion: live.cancelVersion,
    outputBytes: live.outputBytes,
    outputCut: live.outputCut,
    outputPieces: live.outputPieces,
    progressAt: live.progressAt,
    progressHeld: live.progressHeld,
    progressBytes: live.progressBytes,
    result: live.newResult,
  }
}
