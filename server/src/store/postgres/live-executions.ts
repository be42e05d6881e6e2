// An execution as those need it that move it or show it to its device.

import type { ExecState } from '@jobcast/contract'
import type { DeviceExecution } from '../../domain/device-report.ts'
import { type Life, timesOutAt } from '../../domain/execution.ts'
import type { Row } from './rows.ts'

export type LiveExecution = {
  jobExecutionId: number
  runId: number
  ownerNo: number
  deviceNo: number
  deviceId: string
  versionNumber: number
  jobVersion: number
  launchedAt: number
  /** Null until something happens to it. */
  updatedAt: number | null
  notifiedAt: number | null
  deliveredAt: number | null
  statusDetails: string | null
  clientToken: string | null
  cancelVersion: number | null
  outputBytes: number
  outputCut: boolean
  life: Life
}

export const LIVE_COLUMNS = `
  execution_id, execution.run_id, execution.owner_no, execution.device_no, device.device_id, state, attempt,
  version_number, started_at, finished_at, notified_at, delivered_at, not_before, due_at, execution.updated_at,
  status_details, client_token, cancel_version, output_bytes, output_cut, launched_at, run.version_no, deadline_at`
export const LIVE_JOINS =
  'JOIN run ON run.run_id = execution.run_id JOIN device ON device.device_no = execution.device_no'

export function toLive(row: Row): LiveExecution {
  return {
    jobExecutionId: row.execution_id as number,
    runId: row.run_id as number,
    ownerNo: row.owner_no as number,
    deviceNo: row.device_no as number,
    deviceId: row.device_id as string,
    versionNumber: row.version_number as number,
    jobVersion: row.version_no as number,
    launchedAt: row.launched_at as number,
    updatedAt: row.updated_at as number | null,
    notifiedAt: row.notified_at as number | null,
    deliveredAt: row.delivered_at as number | null,
    statusDetails: row.status_details as string | null,
    clientToken: row.client_token === null ? null : JSON.parse(row.client_token as string),
    cancelVersion: row.cancel_version as number | null,
    outputBytes: row.output_bytes as number,
    outputCut: row.output_cut as boolean,
    life: {
      execState: row.state as ExecState,
      attempt: row.attempt as number,
      startedAt: row.started_at as number | null,
      finishedAt: row.finished_at as number | null,
      notBefore: row.not_before as number | null,
      dueAt: row.due_at as number | null,
      deadlineAt: row.deadline_at as number | null,
    },
  }
}

export function toDeviceExecution(live: LiveExecution): DeviceExecution {
  const { life, statusDetails } = live
  return {
    jobExecutionId: live.jobExecutionId,
    execState: life.execState,
    attempt: life.attempt,
    versionNumber: live.versionNumber,
    statusDetails: statusDetails === null ? {} : JSON.parse(statusDetails),
    launchedAt: live.launchedAt,
    startedAt: life.startedAt,
    updatedAt: live.updatedAt ?? live.launchedAt,
    timesOutAt: timesOutAt(life),
    notified: live.notifiedAt !== null,
    jobVersion: live.jobVersion,
  }
}
