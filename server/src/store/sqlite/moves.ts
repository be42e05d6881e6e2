// Writes state changes of executions (see domain/execution/move-batch.ts). Runs in the writer, inside a transaction.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecState } from '@jobcast/contract'
import type { LiveExecution } from '../../domain/execution/execution-move.ts'
import type { MoveWrites } from '../../domain/execution/move-batch.ts'
import type { RunChange } from '../../domain/trigger/run-counts.ts'
import { toWritten, UPDATE_EXECUTION } from '../live-executions.ts'
import { columnOf, insertInto } from '../queries.ts'
import { output, transition } from '../schema/tables.ts'
import { PUT_OUTPUT_STATE } from '../tables/output-states.ts'
import { countFields } from '../tables/run-fields.ts'
import type { EventLog } from './events.ts'
import { prepareNamed } from './named-queries.ts'

const SET_OUTPUT_LENGTH = `
  UPDATE execution SET output_bytes = :outputBytes, output_cut = :outputCut, output_pieces = :outputPieces
  WHERE execution_id = :jobExecutionId`
const DROP_OUTPUT = 'DELETE FROM output WHERE execution_id = :jobExecutionId AND attempt = :attempt'
// SQLite rewrites index entries for each indexed column that is set, even to the same value.
const SET_PROGRESS = `
  UPDATE execution SET version_number = ?, updated_at = ?, status_details = ?, seen_report = ?
  WHERE execution_id = ?`
const counts = Object.entries(countFields).map(
  ([state, { sql }]) => `${columnOf({ sql })} = ${sql} + :${state as ExecState} ` as const,
)
const COUNT = `UPDATE run SET ${counts.join(', ') as (typeof counts)[number]} WHERE run_id = :runId` as const
// Executions of a finished run do not change, so this finds each run once.
const END = `
  UPDATE run SET ended_at = :endsAt WHERE run_id = :runId AND pending + in_progress + canceling = 0`

export function prepareMoveWriter(db: DatabaseSync, log: EventLog): (writes: MoveWrites) => void {
  const update = prepareNamed(db, UPDATE_EXECUTION)
  const setProgress = db.prepare(SET_PROGRESS)
  const setOutputLength = prepareNamed(db, SET_OUTPUT_LENGTH)
  const insertPiece = prepareNamed(db, insertInto(output.fields))
  const dropOutput = prepareNamed(db, DROP_OUTPUT)
  const putOutputState = prepareNamed(db, PUT_OUTPUT_STATE)
  const insertTransition = prepareNamed(db, insertInto(transition.fields))
  const count = prepareNamed(db, COUNT)
  const end = prepareNamed(db, END)

  function writeRun({ runId, ownerNo, counts, endsAt }: RunChange): void {
    count.run({ ...counts, runId })
    if (endsAt === null || end.run({ endsAt, runId }) === 0) return
    log.runChanged('run.finished', { ownerNo, runId, at: endsAt })
  }

  function writeExecution(live: LiveExecution, isProgressOnly: boolean): void {
    if (!isProgressOnly) {
      update.run(toWritten(live))
      return
    }
    const { versionNumber, updatedAt, statusDetails, seenReports, jobExecutionId } = live
    setProgress.run(versionNumber, updatedAt, statusDetails, seenReports, jobExecutionId)
  }

  return (writes) => {
    const { executions, progressed, withOutput, pieces, droppedOutputs, outputStates, transitions } = writes
    const { changes, runs } = writes
    for (const execution of executions) writeExecution(execution, progressed.has(execution.jobExecutionId))
    for (const { jobExecutionId, outputBytes, outputCut, outputPieces } of withOutput) {
      setOutputLength.run({ jobExecutionId, outputBytes, outputCut, outputPieces })
    }
    for (const dropped of droppedOutputs) dropOutput.run(dropped)
    for (const piece of pieces) insertPiece.run(piece)
    for (const state of outputStates) putOutputState.run(state)
    for (const transition of transitions) insertTransition.run(transition)
    changes.forEach(log.executionChanged)
    runs.forEach(writeRun)
  }
}
