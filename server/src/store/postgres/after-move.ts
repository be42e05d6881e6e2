// What a move makes of an execution.

import type { ExecState } from '@jobcast/contract'
import type { Life, Moment, StepTimeout } from '../../domain/execution.ts'
import type { Moved } from '../../domain/store.ts'
import type { LiveExecution } from './live-executions.ts'

/** What a move brings besides the state. */
export type Brought = {
  stepTimeout?: StepTimeout
  statusDetails?: Record<string, string> | undefined
  result?: string | undefined
  clientToken?: string | undefined
}

/** All that a move changes besides the life itself. */
export function afterMove(
  before: LiveExecution,
  life: Life,
  { at }: Moment,
  actor: string,
  { statusDetails, clientToken }: Brought,
): LiveExecution {
  const isRetry = life.attempt !== before.life.attempt
  const byDevice = actor === 'device'
  const versionNumber = before.versionNumber + 1
  // Whatever a device reports on has reached it.
  const reached = (instant: number | null) => (isRetry ? null : byDevice ? (instant ?? at) : instant)
  return {
    ...before,
    life,
    versionNumber,
    updatedAt: at,
    notifiedAt: reached(before.notifiedAt),
    deliveredAt: reached(before.deliveredAt),
    statusDetails: statusDetails === undefined ? before.statusDetails : JSON.stringify(statusDetails),
    clientToken: byDevice ? (clientToken ?? null) : before.clientToken,
    cancelVersion: life.execState === 'CANCELING' && !byDevice ? versionNumber : before.cancelVersion,
    outputBytes: isRetry ? 0 : before.outputBytes,
    outputCut: !isRetry && before.outputCut,
  }
}

export function movedOf(before: LiveExecution, execState: ExecState): Moved {
  const { ownerNo, deviceId, jobExecutionId, runId } = before
  return { ownerNo, deviceId, jobExecutionId, runId, from: before.life.execState, execState }
}
