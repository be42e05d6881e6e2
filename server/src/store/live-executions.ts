// Executions as both stores load them, to move them or to show them to their device.

import type { ExecState } from '@jobcast/contract'
import type { LiveExecution } from '../domain/execution-move.ts'
import type { SteadyInstant } from '../domain/instants.ts'

type Row = Record<string, unknown>

/** Of the tables execution, run and device, which each store joins in its own way. */
export const LIVE_COLUMNS = `
  execution_id, execution.run_id, execution.owner_no, execution.device_no, device.device_id, state, attempt,
  version_number, started_at, finished_at, notified_at, delivered_at, not_before, due_at, execution.updated_at,
  status_details, client_token, cancel_version, output_bytes, output_cut, launched_at, run.version_no, deadline_at`

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
    newResult: null,
    clientToken: row.client_token as string | null,
    cancelVersion: row.cancel_version as number | null,
    outputBytes: row.output_bytes as number,
    outputCut: Boolean(row.output_cut), // SQLite has 0 and 1
    life: {
      execState: row.state as ExecState,
      attempt: row.attempt as number,
      startedAt: row.started_at as number | null,
      finishedAt: row.finished_at as number | null,
      notBefore: row.not_before as SteadyInstant | null,
      dueAt: row.due_at as SteadyInstant | null,
      deadlineAt: row.deadline_at as SteadyInstant | null,
    },
  }
}
