// What a move does to an execution: its new fields, a history entry, an event, and a change in the counts of its run.
// The only place for these rules: stores load executions, apply moves, and write the effects (move-batch.ts).

import { type ExecState, type ExecutionEventType, executionEventType } from '@jobcast/contract/words'
import type { DeviceExecution } from './device-report.ts'
import {
  afterEvent,
  afterRetryDelay,
  type ExecutionEvent,
  isTerminal,
  type Life,
  type Moment,
  type Policy,
  type StepTimeout,
  timesOutAt,
} from './execution.ts'
import type { WallInstant } from './instants.ts'
import type { Moved, StoredTransition } from './ports/executions.ts'
import { withSeen } from './seen-reports.ts'

/** An execution as loaded for a move, or for its device. */
export type LiveExecution = {
  jobExecutionId: number
  runId: number
  ownerNo: number
  deviceNo: number
  deviceId: string
  versionNumber: number
  jobVersion: number
  launchedAt: WallInstant
  /** Null until something happens to it. */
  updatedAt: WallInstant | null
  notifiedAt: WallInstant | null
  deliveredAt: WallInstant | null
  /** JSON text. */
  statusDetails: string | null
  /** JSON text of a result set by a move; null leaves the stored one unchanged. */
  newResult: string | null
  /** Marks of accepted reports (seen-reports.ts). */
  seenReports: string | null
  /** The version created by the owner's cancel request. */
  cancelVersion: number | null
  outputBytes: number
  outputCut: boolean
  life: Life
}

/** What a device reports besides the state. */
export type ReportFields = {
  stepTimeout?: StepTimeout
  statusDetails?: Record<string, string> | undefined
  /** JSON text. */
  result?: string | undefined
  /** What identifies the report (seen-reports.ts). */
  mark?: string | undefined
}

/** `actor` is `key <keyId>`, `device` or `clock`. */
export type Move = { event: ExecutionEvent; moment: Moment; actor: string; fields?: ReportFields }

export type NewTransition = StoredTransition & { jobExecutionId: number; from: ExecState }

/** An event of an execution, as written to the event log. */
export type ExecutionChange = {
  type: ExecutionEventType
  ownerNo: number
  at: WallInstant
  runId: number
  jobExecutionId: number
  deviceNo: number
  from: ExecState
  cause: ExecutionEvent
  actor: string
  attempt: number
  versionNumber: number
  /** The status details that the device reported with this move, as JSON text. */
  details: string | null
}

export type MoveEffects = {
  execution: LiveExecution
  /** Progress leaves no entry in the history. */
  transition: NewTransition | undefined
  change: ExecutionChange
  moved: Moved
}

/** Undefined if the state does not allow the event. */
export function applyMove(before: LiveExecution, policy: Policy, move: Move): MoveEffects | undefined {
  const { event, moment, actor, fields = {} } = move
  const life = afterEvent(before.life, event, policy, moment, fields.stepTimeout)
  if (life === undefined) return undefined
  const execution = fieldsAfter(before, life, move)
  const { jobExecutionId, runId, ownerNo, deviceNo } = before
  const from = before.life.execState
  const to = life.execState
  const step = {
    at: moment.at,
    from,
    actor,
    // A retry is recorded with the attempt that it ends.
    attempt: before.life.attempt,
    versionNumber: execution.versionNumber,
    jobExecutionId,
  }
  const cause = isRetry(before.life, life) ? 'retry' : event
  const type = event === 'progress' ? 'execution.progress' : executionEventType(to)
  const details = fields.statusDetails === undefined ? null : execution.statusDetails
  return {
    execution,
    transition: event === 'progress' ? undefined : { ...step, to, event: cause },
    change: { ...step, type, cause, ownerNo, runId, deviceNo, details },
    moved: movedOf(before, to),
  }
}

function isRetry(before: Life, after: Life): boolean {
  return after.attempt !== before.attempt
}

/** A new attempt starts without notifications and output. A report proves that the execution reached its device. */
function fieldsAfter(before: LiveExecution, life: Life, { moment, actor, fields = {} }: Move): LiveExecution {
  const { at } = moment
  const byDevice = actor === 'device'
  const retried = isRetry(before.life, life)
  const versionNumber = before.versionNumber + 1
  const reached = (instant: WallInstant | null) => (retried ? null : byDevice ? (instant ?? at) : instant)
  return {
    ...before,
    life,
    versionNumber,
    updatedAt: at,
    notifiedAt: reached(before.notifiedAt),
    deliveredAt: reached(before.deliveredAt),
    statusDetails:
      fields.statusDetails === undefined ? before.statusDetails : JSON.stringify(fields.statusDetails),
    newResult: fields.result ?? before.newResult,
    seenReports:
      fields.mark === undefined
        ? before.seenReports
        : withSeen(before.seenReports, fields.mark, retried || isTerminal(life.execState)),
    cancelVersion: life.execState === 'CANCELING' && !byDevice ? versionNumber : before.cancelVersion,
    outputBytes: retried ? 0 : before.outputBytes,
    outputCut: !retried && before.outputCut,
  }
}

/** The retry delay is over and the execution is offered again. Not a move: it stays PENDING. */
export function offerAgain(
  before: LiveExecution,
  policy: Policy,
  { clock }: Moment,
): { execution: LiveExecution; moved: Moved } {
  const life = afterRetryDelay(before.life, policy, clock)
  return { execution: { ...before, life }, moved: movedOf(before, life.execState) }
}

function movedOf(before: LiveExecution, execState: ExecState): Moved {
  const { ownerNo, deviceId, jobExecutionId, runId } = before
  return { ownerNo, deviceId, jobExecutionId, runId, from: before.life.execState, execState }
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
