// Executions as loaded by both stores, for state changes and for their devices.

import { defaultPriority } from '@jobcast/contract/words'
import type { Life } from '../domain/execution/execution.ts'
import type { LiveExecution } from '../domain/execution/execution-move.ts'
import { deadlineByRelease } from '../domain/trigger/launch-run.ts'
import { anyTime } from '../domain/window/any-time.ts'
import { defaultZone, zoneAttribute } from '../domain/window/device-zone.ts'
import { openEverywhere } from '../domain/window/open-zones.ts'
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
import type { RowSql, Written } from './statement.ts'

/** Null means the default, so that creating executions does not write it. */
export const priorityOf = (table: 'execution' | 'run_request') =>
  computed(`coalesce(${table}.priority, ${defaultPriority})`, number())

/** Of the tables execution, run and device (liveJoins). */
const live = {
  ...execution.pick('jobExecutionId', 'runId', 'ownerNo', 'deviceNo', 'versionNumber', 'updatedAt'),
  ...execution.pick('notifiedAt', 'deliveredAt', 'seenReports', 'cancelVersion', 'outputBytes', 'outputCut'),
  ...execution.pick('outputPieces', 'progressAt', 'progressHeld', 'progressBytes'),
  ...execution.pick('execState', 'attempt', 'startedAt', 'finishedAt', 'notBefore', 'dueAt'),
  ...execution.pick('heldMs', 'waitsFrom'),
  ...run.pick('jobVersion', 'launchedAt', 'traceParent'),
  // In a run that is released in parts, the deadline is in the release.
  deadlineAt: computed(
    `CASE WHEN run.deadline_at = ${deadlineByRelease} THEN (
      SELECT rollout_release.deadline_at FROM rollout_release
      WHERE rollout_release.run_id = execution.run_id AND last_execution_id >= execution.execution_id
        AND rollout_release.first_execution_id <= execution.execution_id)
    ELSE run.deadline_at END + execution.held_ms`,
    run.fields.deadlineAt,
  ),
  ...device.pick('deviceId'),
  priority: priorityOf('execution'),
  // Kept as text, because most moves write it back unchanged.
  statusDetails: computed('execution.status_details', orNull(text())),
}
const ROW = select(live)
export const LIVE: Selection<LiveExecution> & { readList(values: unknown[]): LiveExecution } = {
  toString: ROW.toString,
  read: toLive,
  readList,
}

export const liveJoins = (join: string) =>
  `${join} run ON run.run_id = execution.run_id ${join} device ON device.device_no = execution.device_no`

/** The same conditions as in the indexes. */
export const isUnfinished: Readonly<Record<Dialect, string>> = {
  sqlite: "state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')",
  postgres: "state <= 'CANCELING'",
}

const notHeld = (columns: string) => `NOT EXISTS (
    SELECT ${columns} FROM rollout WHERE rollout.run_id = execution.run_id AND held_from <= execution.execution_id)`

/** Only for PostgreSQL; SQLite has this state in memory. */
export const isNotFrozen =
  'NOT EXISTS (SELECT FROM fleet_freeze WHERE fleet_freeze.owner_no = execution.owner_no)'

const isClosedForDevice = `strpos(coalesce(open_zones, ''), '${openEverywhere}') = 0
      AND strpos(coalesce(open_zones, ''), '|' || coalesce((
        SELECT zone FROM device_attribute
        WHERE device_attribute.device_no = execution.device_no AND device_attribute.name = '${zoneAttribute}'
          AND NOT shadowed), '${defaultZone}') || '|') = 0`

/**
 * No window of the run or of the device, if there are any, is closed in the zone of the device. Applies only to executions that
 * have not begun.
 */
export const isInWindow = `NOT EXISTS (
    SELECT FROM run_request LEFT JOIN offer_window
      ON offer_window.owner_no = execution.owner_no AND offer_window.window_name = run_request.window_name
    WHERE run_request.run_id = execution.run_id AND run_request.window_name <> '${anyTime}'
      AND ${isClosedForDevice})
  AND NOT EXISTS (
    SELECT FROM device_window LEFT JOIN offer_window
      ON offer_window.owner_no = device_window.owner_no AND offer_window.window_name = device_window.window_name
    WHERE device_window.device_no = execution.device_no AND until_clock IS NULL AND ${isClosedForDevice}
      AND NOT EXISTS (
        SELECT FROM run_request
        WHERE run_request.run_id = execution.run_id AND run_request.window_name = '${anyTime}'))` as const

/** The execution may be offered to its device, unless its owner's fleet is frozen. */
export const isReleased: Readonly<Record<Dialect, string>> = { sqlite: notHeld('1'), postgres: notHeld('') }

/** The range of the ids of a run's executions. */
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
    priority: found.priority,
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
      heldMs: found.heldMs,
      waitsFrom: found.waitsFrom,
    },
  }
}

/** The position of each field in a row. */
const at = Object.fromEntries(Object.keys(live).map((name, index) => [name, index])) as Record<
  keyof typeof live,
  number
>

/** Reads a row that SQLite returns as a list, which takes a third of the time. Used for the many reports of devices. */
function readList(list: unknown[]): LiveExecution {
  return {
    jobExecutionId: list[at.jobExecutionId] as LiveExecution['jobExecutionId'],
    runId: list[at.runId] as LiveExecution['runId'],
    ownerNo: list[at.ownerNo] as LiveExecution['ownerNo'],
    deviceNo: list[at.deviceNo] as LiveExecution['deviceNo'],
    deviceId: list[at.deviceId] as LiveExecution['deviceId'],
    versionNumber: list[at.versionNumber] as LiveExecution['versionNumber'],
    jobVersion: list[at.jobVersion] as LiveExecution['jobVersion'],
    priority: list[at.priority] as LiveExecution['priority'],
    traceParent: list[at.traceParent] as LiveExecution['traceParent'],
    launchedAt: list[at.launchedAt] as LiveExecution['launchedAt'],
    updatedAt: list[at.updatedAt] as LiveExecution['updatedAt'],
    notifiedAt: list[at.notifiedAt] as LiveExecution['notifiedAt'],
    deliveredAt: list[at.deliveredAt] as LiveExecution['deliveredAt'],
    statusDetails: list[at.statusDetails] as LiveExecution['statusDetails'],
    newResult: null,
    seenReports: list[at.seenReports] as LiveExecution['seenReports'],
    cancelVersion: list[at.cancelVersion] as LiveExecution['cancelVersion'],
    outputBytes: list[at.outputBytes] as LiveExecution['outputBytes'],
    outputCut: list[at.outputCut] === 1,
    outputPieces: list[at.outputPieces] as LiveExecution['outputPieces'],
    progressAt: list[at.progressAt] as LiveExecution['progressAt'],
    progressHeld: list[at.progressHeld] === 1,
    progressBytes: list[at.progressBytes] as LiveExecution['progressBytes'],
    life: {
      execState: list[at.execState] as Life['execState'],
      attempt: list[at.attempt] as Life['attempt'],
      startedAt: list[at.startedAt] as Life['startedAt'],
      finishedAt: list[at.finishedAt] as Life['finishedAt'],
      notBefore: list[at.notBefore] as Life['notBefore'],
      dueAt: list[at.dueAt] as Life['dueAt'],
      deadlineAt: list[at.deadlineAt] as Life['deadlineAt'],
      heldMs: list[at.heldMs] as Life['heldMs'],
      waitsFrom: list[at.waitsFrom] as Life['waitsFrom'],
    },
  }
}

// All fields that a move may change are read and written: on PostgreSQL the row is locked in between.
const written = {
  ...execution.pick('execState', 'attempt', 'versionNumber', 'startedAt', 'finishedAt', 'notBefore', 'dueAt'),
  ...execution.pick('updatedAt', 'notifiedAt', 'deliveredAt', 'statusDetails', 'seenReports'),
  ...execution.pick('cancelVersion', 'outputBytes', 'outputCut', 'outputPieces', 'result'),
  ...execution.pick('progressAt', 'progressHeld', 'progressBytes', 'heldMs', 'waitsFrom'),
}
const rowFields = { ...execution.pick('jobExecutionId'), ...written }
/** For rows from toWritten. */
export const UPDATE_EXECUTION: RowSql<Written<typeof rowFields>> = inBoth(({ is, field, records }) => {
  const changes = Object.entries(written).map(([name, of]) =>
    name === 'result'
      ? `result = coalesce(${field(name)}, execution.result)`
      : `${columnOf(of)} = ${field(name)}`,
  )
  const from = is === 'sqlite' ? '' : `FROM ${records('rows', rowFields)}`
  return `UPDATE execution SET ${changes.join(', ')} ${from} WHERE execution.execution_id = ${field('jobExecutionId')}`
})

export function toWritten(live: LiveExecution): Written<typeof rowFields> {
  const { execState, attempt, startedAt, finishedAt, notBefore, dueAt, heldMs, waitsFrom } = live.life
  return {
    ...{ execState, attempt, startedAt, finishedAt, notBefore, dueAt, heldMs, waitsFrom },
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
