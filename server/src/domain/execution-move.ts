// What a move does to an execution: its new fields, an entry in its history, an event, and a change in the counts of its
// run. The one place that says so: stores load executions, apply moves, and write what comes out (store/apply-moves.ts).

import { type ExecState, type ExecutionEventType, executionEventType } from '@jobcast/contract/words'
import type { DeviceExecution } from './device-report.ts'
import {
  afterEvent,
  afterRetryDelay,
  type ExecutionEvent,
  type Life,
  type Moment,
  type Policy,
  type StepTimeout,
  timesOutAt,
} from './execution.ts'
import type { WallInstant } from './instants.ts'
import type { Moved, StoredTransition } from './ports/executions.ts'

/** An execution as it is loaded to be moved, or to be shown to its device. */
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
  /** JSON text of a result that a move has set; null: what is stored stays. */
  newResult: string | null
  /** Of the last report that counted. */
  clientToken: string | null
  /** The version that the owner's cancel request made. */
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
  clientToken?: string | undefined
}

/** `actor` is `key <keyId>`, `device` or `clock`. */
export type Move = { event: ExecutionEvent; moment: Moment; actor: string; fields?: ReportFields }

export type NewTransition = StoredTransition & { jobExecutionId: number; from: ExecState }

/** An event of an execution, as it goes into the log. */
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
  /** The status details that the device reported with it, as JSON text. */
  details: string | null
}

export type MoveEffects = {
  execution: LiveExecution
  /** Progress leaves no entry in the history. */
  transition: NewTransition | undefined
  change: ExecutionChange
  moved: Moved
}

/** Undefined when the state does not allow the event. */
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
    // A retry is noted with the attempt that it ends.
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

/** A new attempt begins without notices and output; whatever a device reports on has reached it. */
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
    clientToken: byDevice ? (fields.clientToken ?? null) : before.clientToken,
    cancelVersion: life.execState === 'CANCELING' && !byDevice ? versionNumber : before.cancelVersion,
    outputBytes: retried ? 0 : before.outputBytes,
    outputCut: !retried && before.outputCut,
  }
}

/** Its retry delay is over and it is offered again. That is no move: it has been PENDING all the time. */
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
