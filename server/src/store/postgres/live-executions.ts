// Executions as rows of PostgreSQL.

import type { LiveExecution } from '../../domain/execution-move.ts'
import { toLive as fromRow } from '../live-executions.ts'
import type { Row } from './rows.ts'

export const LIVE_JOINS =
  'JOIN run ON run.run_id = execution.run_id JOIN device ON device.device_no = execution.device_no'

// All that a move may change is read and written: a row is locked from the one to the other.
export const UPDATE = `
  UPDATE execution SET state = new.state, attempt = new.attempt, version_number = new.version_number,
    started_at = new.started_at, finished_at = new.finished_at, not_before = new.not_before, due_at = new.due_at,
    updated_at = new.updated_at, notified_at = new.notified_at, delivered_at = new.delivered_at,
    status_details = new.status_details, client_token = new.client_token, cancel_version = new.cancel_version,
    output_bytes = new.output_bytes, output_cut = new.output_cut,
    output_pieces = new.output_pieces, progress_at = new.progress_at, progress_held = new.progress_held,
    progress_bytes = new.progress_bytes, result = coalesce(new.result, execution.result)
  FROM json_to_recordset($1::json) AS new (execution_id bigint, state exec_state, attempt int, version_number int,
    started_at bigint, finished_at bigint, not_before bigint, due_at bigint, updated_at bigint, notified_at bigint,
    delivered_at bigint, status_details text, client_token text, cancel_version int, output_bytes int,
    output_cut boolean, output_pieces int, progress_at bigint, progress_held boolean, progress_bytes bigint,
    result text)
  WHERE execution.execution_id = new.execution_id`

// The client's token is kept as JSON: a device may put in it what PostgreSQL's texts cannot hold.

export function toLive(row: Row): LiveExecution {
  const live = fromRow(row)
  return live.clientToken === null ? live : { ...live, clientToken: JSON.parse(live.clientToken) }
}

/** For UPDATE. */
export function toRow({ life, ...live }: LiveExecution): Row {
  return {
    execution_id: live.jobExecutionId,
    state: life.execState,
    attempt: life.attempt,
    version_number: live.versionNumber,
    started_at: life.startedAt,
    finished_at: life.finishedAt,
    not_before: life.notBefore,
    due_at: life.dueAt,
    updated_at: live.updatedAt,
    notified_at: live.notifiedAt,
    delivered_at: live.deliveredAt,
    status_details: live.statusDetails,
    client_token: live.clientToken === null ? null : JSON.stringify(live.clientToken),
    cancel_version: live.cancelVersion,
    output_bytes: live.outputBytes,
    output_cut: live.outputCut,
    output_pieces: live.outputPieces,
    progress_at: live.progressAt,
    progress_held: live.progressHeld,
    progress_bytes: live.progressBytes,
    result: live.newResult,
  }
}
