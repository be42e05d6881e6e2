import type { ExecState } from '@jobcast/contract'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { OwnerList, Sliced } from '../../common/ports/slices.ts'
import type { DeviceKey } from '../../device/device-key.ts'

import type { ExecutionEvent, Moment } from '../execution.ts'
import type { TimeLimits } from '../held-clocks.ts'

export type ExecutionKey = { ownerNo: number; jobExecutionId: number }

export type StoredExecution = {
  jobExecutionId: number
  jobName: string
  deviceId: string
  deviceName: string
  execState: ExecState
  launchedAt: WallInstant
  runId: number
  attempt: number
  versionNumber: number
  startedAt: WallInstant | null
  finishedAt: WallInstant | null
  notifiedAt: WallInstant | null
  deliveredAt: WallInstant | null
  /** Waits for a retry until then. */
  notBefore: SteadyInstant | null
  priority: number
  statusDetails: Record<string, string>
  result: unknown
  outputBytes: number
  /** There was more output than is kept. */
  outputCut: boolean
}

export type ExecutionFilter = {
  jobName?: string
  /** Job names or patterns, one of which must match (matchesJob). */
  jobs?: readonly string[]
  deviceId?: string
  /** One of these; at least one. */
  execStates?: readonly ExecState[]
  runId?: number
  /** From this instant on. */
  launchedAfter?: number
  /** Up to, but not including, this instant. */
  launchedBefore?: number
  finishedAfter?: number
  finishedBefore?: number
}

export type ExecutionMove = {
  ownerNo: number
  jobExecutionId: number
  event: ExecutionEvent
  moment: Moment
  actor: string
  /** The reason, for moves that nobody requested. */
  reason?: string
}

export type MoveOutcome =
  | { kind: 'moved'; execution: StoredExecution; from: ExecState }
  | { kind: 'refused'; execState: ExecState }
  | { kind: 'unknown-execution' }

/** A move: tells whose queue has changed, and whether a device must stop working. */
export type Moved = DeviceKey & {
  jobExecutionId: number
  runId: number
  from: ExecState
  execState: ExecState
}

/** A history entry: when, who and why. `versionNumber` is the version after the step. */
export type StoredTransition = {
  at: WallInstant
  from: ExecState | null
  to: ExecState
  event: ExecutionEvent | 'trigger'
  /** `key <keyId>`, `device`, `clock`. */
  actor: string
  /** The key's name, if the actor was a key. */
  actorName: string | null
  attempt: number
  versionNumber: number
  /** The reason that the device reported for an unsuccessful attempt, or why the service ended it. */
  reason: string | null
}

export type ExecutionStore = {
  /** Newest first. A slice may be short, even empty, before the end. */
  listExecutions(
    list: OwnerList<number> & { filter: ExecutionFilter },
  ): Promise<Sliced<StoredExecution, number>>
  getExecution(execution: ExecutionKey): Promise<StoredExecution | undefined>
  /** Undefined: no such execution. */
  getTimeLimits(execution: ExecutionKey): Promise<TimeLimits | undefined>
  moveExecution(move: ExecutionMove): Promise<MoveOutcome>
  /** Oldest first. Undefined: no such execution. */
  listTransitions(execution: ExecutionKey): Promise<StoredTransition[] | undefined>
  /** Up to `limit` bytes of output from `offset` on, by default of the newest attempt; undefined: no such execution. */
  readOutput(
    slice: ExecutionKey & { offset: number; limit: number; attempt: number | undefined },
  ): Promise<OutputSlice | undefined>
  /** Moves a batch of the executions whose clock is due; `more` while there may be others. */
  fireClocks(moment: Moment): Promise<{ moved: Moved[]; more: boolean }>
}

export type OutputSlice = {
  data: Uint8Array
  /** Stored bytes in total. */
  length: number
  cut: boolean
  runId: number
  ended: boolean
}
