// What a move does to an execution: its new fields, a history entry, an event, and a change in the counts of its run.
// The only place for these rules: stores load executions, apply moves, and write the effects (move-batch.ts).

import { type EventTypeOf, type ExecState, executionEventType } from '@jobcast/contract/words'
import type { SteadyInstant, WallInstant } from '../common/instants.ts'
import { isHeldBack } from '../event/progress-events.ts'
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
import type { ExecutionMove, Moved, StoredTransition } from './ports/executions.ts'
import { reasonOf } from './reported-reason.ts'
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
  priority: number
  traceParent: string | null
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
  outputPieces: number
  /** When its last progress event was written. */
  progressAt: SteadyInstant | null
  /** Progress was reported that is not in the event log yet (progress-events.ts). */
  progressHeld: boolean
  /** Of the status details in its progress events. */
  progressBytes: number
  life: Life
}

/** What a device reports besides the state. */
type ReportFields = {
  stepTimeout?: StepTimeout
  statusDetails?: Record<string, string> | undefined
  /** JSON text. */
  result?: string | undefined
  /** What identifies the report (seen-reports.ts). */
  mark?: string | undefined
  /** How long the device rejects it (not-now.ts). */
  waitMs?: number | undefined
}

/** `actor` is `key <keyId>`, `device` or `clock`. */
export type Move = Pick<ExecutionMove, 'event' | 'moment' | 'actor' | 'reason'> & { fields?: ReportFields }

export type NewTransition = Omit<StoredTransition, 'actorName' | 'event'> & {
  jobExecutionId: number
  from: ExecState
  event: ExecutionEvent
}

/** An event of an execution, as written to the event log. */
export type ExecutionChange = {
  type: EventTypeOf<'execution'>
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
  transition: NewTransition | undefined
  /** In the order in which they are written; empty if progress is held back. */
  changes: ExecutionChange[]
  moved: Moved
}

/** Undefined if the state does not allow the event. */
export function applyMove(before: LiveExecution, policy: Policy, move: Move): MoveEffects | undefined {
  const { event, moment, fields = {} } = move
  const life = afterEvent(before.life, event, policy, moment, fields.stepTimeout, fields.waitMs)
  if (life === undefined) return undefined
  return event === 'progress' ? progress(before, life, move) : changeState(before, life, move)
}

/** Progress leaves no entry in the history. */
function progress(before: LiveExecution, life: Life, move: Move): MoveEffects {
  const { moment, actor, fields = {} } = move
  const after = fieldsAfter(before, life, move)
  const moved = movedOf(before, life.execState)
  if (isHeldBack(before.progressAt, moment.clock)) {
    return { execution: { ...after, progressHeld: true }, transition: undefined, changes: [], moved }
  }
  const hasDetails = fields.statusDetails !== undefined || before.progressHeld
  const details = hasDetails ? after.statusDetails : null
  const { execution, change } = progressEvent(after, moment, actor, details)
  return { execution, transition: undefined, changes: [change], moved }
}

/** Progress that was held back is written before the change that follows it. */
function changeState(before: LiveExecution, life: Life, move: Move): MoveEffects {
  const { event, moment, actor, fields = {} } = move
  const held = before.progressHeld ? writeHeldProgress(before, moment) : undefined
  const execution = fieldsAfter(held?.execution ?? before, life, move)
  const { jobExecutionId, runId, ownerNo, deviceNo } = before
  const to = life.execState
  const step = {
    at: moment.at,
    from: before.life.execState,
    actor,
    // A retry is recorded with the attempt that it ends.
    attempt: before.life.attempt,
    versionNumber: execution.versionNumber,
    jobExecutionId,
  }
  const cause = isRetry(before.life, life) ? 'retry' : event
  const details = fields.statusDetails === undefined ? null : execution.statusDetails
  const change = { ...step, type: executionEventType(to), cause, ownerNo, runId, deviceNo, details }
  return {
    execution,
    transition: {
      ...step,
      to,
      event: cause,
      reason: move.reason ?? reasonOf(cause, to, fields.statusDetails),
    },
    changes: held ? [held.change, change] : [change],
    moved: movedOf(before, to),
  }
}

type WrittenProgress = { execution: LiveExecution; change: ExecutionChange }

/** Called when the interval has passed or the state changes. Not a move: the state stays the same. */
export function writeHeldProgress(before: LiveExecution, moment: Moment): WrittenProgress {
  return progressEvent(before, moment, 'device', before.statusDetails)
}

function progressEvent(
  live: LiveExecution,
  { at, clock }: Moment,
  actor: string,
  details: string | null,
): WrittenProgress {
  const { jobExecutionId, runId, ownerNo, deviceNo, versionNumber, life } = live
  const progressBytes = live.progressBytes + (details === null ? 0 : Buffer.byteLength(details))
  return {
    execution: { ...live, progressAt: clock, progressHeld: false, progressBytes },
    change: {
      type: 'execution.progress',
      ...{ at, actor, cause: 'progress', from: life.execState, attempt: life.attempt, versionNumber },
      ...{ jobExecutionId, runId, ownerNo, deviceNo, details },
    },
  }
}

function isRetry(before: Life, after: Life): boolean {
  return after.attempt !== before.attempt
}

/** Executions that are offered again start without notifications and output. A report proves delivery. */
function fieldsAfter(
  before: LiveExecution,
  life: Life,
  { event, moment, actor, fields = {} }: Move,
): LiveExecution {
  const { at } = moment
  const byDevice = actor === 'device'
  const retried = isRetry(before.life, life)
  const isAnew = retried || event === 'not-now'
  const versionNumber = before.versionNumber + 1
  const reached = (instant: WallInstant | null) => (isAnew ? null : byDevice ? (instant ?? at) : instant)
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
    outputBytes: isAnew ? 0 : before.outputBytes,
    outputCut: !isAnew && before.outputCut,
    outputPieces: isAnew ? 0 : before.outputPieces,
  }
}

/** The delay is over and the execution is offered again. Not a move: it stays PENDING. */
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
    runId: live.runId,
    jobVersion: live.jobVersion,
    priority: live.priority,
    ...(live.traceParent !== null && { traceParent: live.traceParent }),
  }
}
