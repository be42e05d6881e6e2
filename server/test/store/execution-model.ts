// A model of executions as a plain list in memory, with the expected results of a store.

import type { ExecState } from '@jobcast/contract'
import { type ExecutionEvent, isTerminal, nextState } from '../../src/domain/execution/execution.ts'
import type { ExecutionFilter, Moved, StoredExecution } from '../../src/domain/execution/ports/executions.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import { wayTo } from './store-under-test.ts'

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
        notBefore: null,
        statusDetails: {},
        result: null,
        outputBytes: 0,
        outputCut: false,
        priority: 5,
      })
    })
  }

  /** False when the state does not allow it. */
  move(execution: StoredExecution, event: ExecutionEvent, at: number): boolean {
    const state = nextState(execution.execState, event)
    if (state === undefined) return false
    execution.execState = state
    execution.versionNumber++
    if (event === 'start') execution.startedAt = at
    if (isTerminal(state)) execution.finishedAt = at
    return true
  }

  bringTo(execution: StoredExecution, state: ExecState, at: number): void {
    for (const event of wayTo[state]) this.move(execution, event, at)
  }

  /** Ends what is unfinished on the device and returns what it moved. */
  removeDevice(ownerNo: number, deviceId: string, at: number): Moved[] {
    return this.executions.flatMap((execution) => {
      const { jobExecutionId, runId, execState: from } = execution
      if (execution.deviceId !== deviceId || !this.move(execution, 'remove-device', at)) return []
      return [{ ownerNo, deviceId, jobExecutionId, runId, from, execState: execution.execState }]
    })
  }

  list(filter: ExecutionFilter): StoredExecution[] {
    const { jobName, deviceId, execStates, runId, launchedAfter, launchedBefore } = filter
    const { finishedAfter, finishedBefore } = filter
    return this.executions
      .filter(
        (execution) =>
          (jobName === undefined || execution.jobName === jobName) &&
          (deviceId === undefined || execution.deviceId === deviceId) &&
          (execStates === undefined || execStates.includes(execution.execState)) &&
          (runId === undefined || execution.runId === runId) &&
          (launchedAfter === undefined || execution.launchedAt >= launchedAfter) &&
          (launchedBefore === undefined || execution.launchedAt < launchedBefore) &&
          (finishedAfter === undefined || (execution.finishedAt ?? -1) >= finishedAfter) &&
          (finishedBefore === undefined ||
            (execution.finishedAt ?? Number.POSITIVE_INFINITY) < finishedBefore),
      )
      .toReversed()
  }
}

export const unfinishedStates: readonly ExecState[] = ['PENDING', 'IN_PROGRESS', 'CANCELING']
