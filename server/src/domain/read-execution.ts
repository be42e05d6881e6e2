// Reading one execution or one run, at once or when it has come to its end.

import { ApiError } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import { isTerminal } from './execution.ts'
import type { StoredExecution } from './ports/executions.ts'
import type { StoredRun } from './ports/runs.ts'
import type { Store } from './ports/store.ts'
import { type Patience, type WaitDeps, waitForEnd } from './wait-for-end.ts'

export type ReadDeps = WaitDeps & { store: Store }

export function readExecution(
  deps: ReadDeps,
  caller: Caller,
  jobExecutionId: number,
  patience: Patience,
): Promise<StoredExecution> {
  const read = async () => {
    const execution = await deps.store.getExecution({ ownerNo: caller.ownerNo, jobExecutionId })
    if (execution === undefined) throw new ApiError('J-302')
    return execution
  }
  return waitForEnd(deps, read, (execution) => isTerminal(execution.execState), patience)
}

export function readRun(
  deps: ReadDeps,
  caller: Caller,
  runId: number,
  patience: Patience,
): Promise<StoredRun> {
  const read = async () => {
    const run = await deps.store.getRun({ ownerNo: caller.ownerNo, runId })
    if (run === undefined) throw new ApiError('J-304')
    return run
  }
  return waitForEnd(deps, read, isFinished, patience)
}

export function isFinished({ counts }: StoredRun): boolean {
  return counts.PENDING + counts.IN_PROGRESS + counts.CANCELING === 0
}
