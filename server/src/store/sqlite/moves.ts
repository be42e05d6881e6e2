// Loads executions and writes what moves made of them (see ../apply-moves.ts). Runs in the writer, inside a transaction.

import type { DatabaseSync } from 'node:sqlite'
import { execStates } from '@jobcast/contract/words'
import type { LiveExecution } from '../../domain/execution-move.ts'
import type { OutputPiece } from '../../domain/keep-output.ts'
import type { Moved } from '../../domain/ports/executions.ts'
import type { RunChange } from '../../domain/run-counts.ts'
import { MoveBatch, type MoveWrites } from '../apply-moves.ts'
import { LIVE, toLive } from '../live-executions.ts'
import { countColumn } from '../schema/count-column.ts'
import type { EventLog } from './events.ts'
import { preparePolicies } from './policies.ts'

export const LIVE_JOINS =
  'CROSS JOIN run ON run.run_id = execution.run_id CROSS JOIN device ON device.device_no = execution.device_no'
export const SELECT_LIVE = `SELECT ${LIVE} FROM execution ${LIVE_JOINS}`
const BY_IDS = `${SELECT_LIVE} WHERE execution_id IN (SELECT value FROM json_each(?)) ORDER BY execution_id`

const UPDATE = `
  UPDATE execution SET state = ?, attempt = ?, version_number = ?, started_at = ?, finished_at = ?, not_before = ?,
    due_at = ?, updated_at = ?, notified_at = ?, delivered_at = ?, status_details = ?, client_token = ?,
    cancel_version = ?, output_bytes = ?, output_cut = ?, output_pieces = ?, progress_at = ?, progress_held = ?,
    progress_bytes = ?, result = coalesce(?, result)
  WHERE execution_id = ?`
const SET_OUTPUT_LENGTH =
  'UPDATE execution SET output_bytes = ?, output_cut = ?, output_pieces = ? WHERE execution_id = ?'
const INSERT_PIECE = 'INSERT INTO output (execution_id, attempt, start, data) VALUES (?, ?, ?, ?)'
const INSERT_TRANSITION = `
  INSERT INTO transition (execution_id, version_number, at, from_state, to_state, event, actor, attempt)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const COUNT = `
  UPDATE run SET ${execStates.map((state) => `${countColumn(state)} = ${countColumn(state)} + ?`).join(', ')}
  WHERE run_id = ?`
// Nothing moves in a run that has ended, so this finds each of them once.
const END = `
  UPDATE run SET ended_at = ? WHERE run_id = ? AND pending + in_progress + canceling = 0 RETURNING run_id`

/** `delayed`: it waits for a retry and is not offered to its device. */
export type MovedExecution = Moved & { delayed: boolean }

export function prepareMoves(db: DatabaseSync, log: EventLog) {
  const { policyOf } = preparePolicies(db)
  const byIds = db.prepare(BY_IDS)
  const update = db.prepare(UPDATE)
  const setOutputLength = db.prepare(SET_OUTPUT_LENGTH)
  const insertPiece = db.prepare(INSERT_PIECE)
  const insertTransition = db.prepare(INSERT_TRANSITION)
  const count = db.prepare(COUNT)
  const end = db.prepare(END)

  function writeExecution(execution: LiveExecution): void {
    const { life } = execution
    update.run(
      life.execState,
      life.attempt,
      execution.versionNumber,
      life.startedAt,
      life.finishedAt,
      life.notBefore,
      life.dueAt,
      execution.updatedAt,
      execution.notifiedAt,
      execution.deliveredAt,
      execution.statusDetails,
      execution.clientToken,
      execution.cancelVersion,
      execution.outputBytes,
      Number(execution.outputCut),
      execution.outputPieces,
      execution.progressAt,
      Number(execution.progressHeld),
      execution.progressBytes,
      execution.newResult,
      execution.jobExecutionId,
    )
  }

  function writePiece({ jobExecutionId, attempt, start, data }: OutputPiece): void {
    insertPiece.run(jobExecutionId, attempt, start, data)
  }

  function writeRun({ runId, ownerNo, counts, endsAt }: RunChange): void {
    count.run(...execStates.map((state) => counts[state]), runId)
    if (endsAt === null || end.get(endsAt, runId) === undefined) return
    log.runFinished({ ownerNo, runId, at: endsAt })
  }

  function write({ executions, withOutput, pieces, transitions, changes, runs }: MoveWrites): void {
    for (const execution of executions) writeExecution(execution)
    for (const { outputBytes, outputCut, outputPieces, jobExecutionId } of withOutput) {
      setOutputLength.run(outputBytes, Number(outputCut), outputPieces, jobExecutionId)
    }
    for (const piece of pieces) writePiece(piece)
    for (const { jobExecutionId, versionNumber, at, from, to, event, actor, attempt } of transitions) {
      insertTransition.run(jobExecutionId, versionNumber, at, from, to, event, actor, attempt)
    }
    for (const change of changes) log.executionChanged(change)
    for (const run of runs) writeRun(run)
  }

  return {
    loadByIds: (ids: number[]): LiveExecution[] => byIds.all(JSON.stringify(ids)).map(toLive),
    /** Whatever the work moves is written at its end. */
    inBatch<Out>(work: (batch: MoveBatch) => Out): Out {
      const batch = new MoveBatch(policyOf)
      const out = work(batch)
      write(batch.writes)
      return out
    },
  }
}

export type Moves = ReturnType<typeof prepareMoves>

/** For the queues in memory, which follow what is on disk. */
export function asOnDisk(batch: MoveBatch, moved: Moved): MovedExecution {
  return { ...moved, delayed: batch.find(moved.jobExecutionId)?.life.notBefore !== null }
}
