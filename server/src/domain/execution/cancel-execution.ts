// Cancel: a PENDING execution ends at once; a running one is asked to stop, or is ended by force.

import { ApiError } from '@jobcast/contract'
import { actorOf, type Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from './execution.ts'
import { type NotifyDeps, notifyTaken } from './notify-moved.ts'
import type { ExecutionMove, MoveOutcome, StoredExecution } from './ports/executions.ts'

export type CancelDeps = NotifyDeps & { store: Store; moment: () => Moment }

type MoveDeps = NotifyDeps & { store: Pick<Store, 'moveExecution'>; moment: () => Moment }

export async function cancelExecution(
  deps: CancelDeps,
  caller: Caller,
  jobExecutionId: number,
  force: boolean,
): Promise<StoredExecution> {
  const outcome = await cancelAndNotify(deps, {
    ownerNo: caller.ownerNo,
    jobExecutionId,
    event: cancelEvent(force),
    actor: actorOf(caller),
    ...originOf(caller),
  })
  switch (outcome.kind) {
    case 'moved':
      return outcome.execution
    case 'refused':
      throw new ApiError('J-303', { detail: `The execution is ${outcome.execState}.` })
    case 'unknown-execution':
      throw notFound('J-302', jobExecutionId)
  }
}

/** Changes nothing if the execution has ended meanwhile; the outcome says so. */
export async function cancelAndNotify(
  deps: MoveDeps,
  cancel: Omit<ExecutionMove, 'moment'>,
): Promise<MoveOutcome> {
  const outcome = await deps.store.moveExecution({ ...cancel, moment: deps.moment() })
  if (outcome.kind === 'moved') {
    const { ownerNo, jobExecutionId } = cancel
    const { deviceId, runId, execState } = outcome.execution
    notifyTaken(deps, [{ ownerNo, deviceId, jobExecutionId, runId, from: outcome.from, execState }])
  }
  return outcome
}

export function cancelEvent(force: boolean): 'cancel' | 'force-cancel' {
  return force ? 'force-cancel' : 'cancel'
}
