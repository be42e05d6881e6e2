// Executions as both stores load them, to move them or to show them to their device.

import type { LiveExecution } from '../domain/execution-move.ts'
import { computed, number, orNull, type Row, select, text } from './schema/column.ts'
import { device, execution, run } from './schema/tables.ts'

const { jobExecutionId, runId, ownerNo, deviceNo, versionNumber, updatedAt, notifiedAt } = execution.fields
const { deliveredAt, clientToken, cancelVersion, outputBytes, outputCut } = execution.fields
const { progressAt, progressHeld, progressBytes, outputPieces } = execution.fields
const { execState, attempt, startedAt, finishedAt, notBefore, dueAt } = execution.fields
const { jobVersion, launchedAt, deadlineAt, firstExecutionId } = run.fields
const { deviceId } = device.fields

/** Of the tables execution, run and device, which each store joins in its own way. */
export const LIVE = select({
  ...{ jobExecutionId, runId, ownerNo, deviceNo, deviceId, versionNumber, jobVersion, launchedAt },
  ...{ updatedAt, notifiedAt, deliveredAt, clientToken, cancelVersion, outputBytes, outputCut },
  ...{ progressAt, progressHeld, progressBytes, outputPieces },
  // As text: most moves write it back as it is.
  statusDetails: computed('execution.status_details', orNull(text())),
  ...{ execState, attempt, startedAt, finishedAt, notBefore, dueAt, deadlineAt },
})

/** The ids of a run's executions. */
export const RUN_RANGE = select({
  runId: run.fields.runId,
  first: firstExecutionId,
  last: computed('run.first_execution_id + run.total - 1', number()),
})

export function toLive(row: Row): LiveExecution {
  const found = LIVE.read(row)
  return {
    jobExecutionId: found.jobExecutionId,
    runId: found.runId,
    ownerNo: found.ownerNo,
    deviceNo: found.deviceNo,
    deviceId: found.deviceId,
    versionNumber: found.versionNumber,
    jobVersion: found.jobVersion,
    launchedAt: found.launchedAt,
    updatedAt: found.updatedAt,
    notifiedAt: found.notifiedAt,
    deliveredAt: found.deliveredAt,
    statusDetails: found.statusDetails,
    newResult: null,
    clientToken: found.clientToken,
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
