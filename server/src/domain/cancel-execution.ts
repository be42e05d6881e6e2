// Cancel: PENDING ends at once; what a device works on is asked to end, or ended by force.

import { ApiError } from '@jobcast/contract'
import { actorOf, type Caller } from './caller.ts'
import { isActive, type Moment } from './execution.ts'
import { type ReportDeps, tellMoved } from './report-execution.ts'
import type { Moved, Store, StoredExecution } from './store.ts'

/** Whoever waits for what was moved. */
export type TellDeps = Pick<ReportDeps, 'link' | 'changes'>
export type CancelDeps = TellDeps & { store: Store; moment: () => Moment }

export async function cancelExecution(
  deps: CancelDeps,
  caller: Caller,
  jobExecutionId: number,
  force: boolean,
): Promise<StoredExecution> {
  const { ownerNo } = caller
  const outcome = await deps.store.moveExecution({
    ownerNo,
    jobExecutionId,
    event: cancelEvent(force),
    moment: deps.moment(),
    actor: actorOf(caller),
  })
  switch (outcome.kind) {
    case 'moved': {
      const { deviceId, runId, execState } = outcome.execution
      tellCanceled(deps, [{ ownerNo, deviceId, jobExecutionId, runId, from: outcome.from, execState }])
      return outcome.execution
    }
    case 'refused':
      throw new ApiError('J-303', { detail: `The execution is ${outcome.execState}.` })
    case 'unknown-execution':
      throw new ApiError('J-302')
  }
}

export function cancelEvent(force: boolean): 'cancel' | 'force-cancel' {
  return force ? 'force-cancel' : 'cancel'
}

/** A device that may be working on what was canceled by force learns of it; it is asked nothing any more. */
export function tellCanceled(deps: TellDeps, moved: Moved[]): void {
  tellMoved(deps, moved)
  for (const { ownerNo, deviceId, jobExecutionId, from, execState } of moved) {
    if (isActive(from) && execState === 'CANCELED') {
      deps.link.withdraw({ ownerNo, deviceId }, jobExecutionId)
    }
  }
}
