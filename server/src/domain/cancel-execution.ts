// Cancel: PENDING ends at once; what a device works on is asked to end, or ended by force.

import { ApiError } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { ChangeSignal } from './change-signal.ts'
import type { Store, StoredExecution } from './store.ts'

export type CancelDeps = { store: Store; now: () => number; changes: ChangeSignal }

export async function cancelExecution(
  deps: CancelDeps,
  caller: Caller,
  jobExecutionId: number,
  force: boolean,
): Promise<StoredExecution> {
  const outcome = await deps.store.moveExecution({
    ownerNo: caller.ownerNo,
    jobExecutionId,
    event: force ? 'force-cancel' : 'cancel',
    at: deps.now(),
  })
  switch (outcome.kind) {
    case 'moved':
      deps.changes.tell([outcome.execution.runId])
      return outcome.execution
    case 'refused':
      throw new ApiError('J-303', { detail: `The execution is ${outcome.execState}.` })
    case 'unknown-execution':
      throw new ApiError('J-302')
  }
}
