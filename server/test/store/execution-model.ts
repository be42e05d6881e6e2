// Executions as a plain list in memory: what a store must answer, without what makes a store fast.

import type { ExecState } from '@jobcast/contract'
import { type ExecutionEvent, isTerminal, nextState } from '../../src/domain/execution.ts'
import type { ExecutionFilter, LaunchedRun, StoredExecution } from '../../src/domain/store.ts'

export class ExecutionModel {
  /** Oldest first. */
  readonly executions: StoredExecution[] = []

  launch({ runId, jobName, launchedAt, firstExecutionId, devices }: LaunchedRun): void {
    devices.forEach(({ deviceId, deviceName }, index) => {
      this.executions.push({
        jobExecutionId: firstExecutionId + index,
        jobName,
        deviceId,
        deviceName,
        execState: 'PENDING',
        launchedAt,
        runId,
        attempt: 1,
        versionNumber: 1,
        startedAt: null,
        finishedAt: null,
        notifiedAt: null,
        deliveredAt: null,
        statusDetails: {},
        result: null,
      })
    })
  }

  /** False when the state does not allow it. */
  move(execution: StoredExecution, event: ExecutionEvent, at: number): boolean {
    const state = nextState(execution.execState, event)
    if (state === undefined) return false
    execution.execState = state
    execution.versionNumber++
    if (isTerminal(state)) execution.finishedAt = at
    return true
  }

  /** Ends what is unfinished of the device and names the runs that it touched. */
  removeDevice(deviceId: string, at: number): number[] {
    const touched = this.executions.filter(
      (execution) => execution.deviceId === deviceId && this.move(execution, 'remove-device', at),
    )
    return [...new Set(touched.map((execution) => execution.runId))]
  }

  list(filter: ExecutionFilter): StoredExecution[] {
    const { jobName, deviceId, execState, runId, launchedAfter, launchedBefore } = filter
    return this.executions
      .filter(
        (execution) =>
          (jobName === undefined || execution.jobName === jobName) &&
          (deviceId === undefined || execution.deviceId === deviceId) &&
          (execState === undefined || execution.execState === execState) &&
          (runId === undefined || execution.runId === runId) &&
          (launchedAfter === undefined || execution.launchedAt >= launchedAfter) &&
          (launchedBefore === undefined || execution.launchedAt < launchedBefore),
      )
      .toReversed()
  }
}

export const unfinishedStates: readonly ExecState[] = ['PENDING', 'IN_PROGRESS', 'CANCELING']
