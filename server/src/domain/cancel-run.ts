// Cancels the unfinished executions of a run, in batches, so that the store serves other callers in between.

import { ApiError } from '@jobcast/contract'
import { actorOf, type Caller } from './caller.ts'
import { type CancelDeps, cancelEvent } from './cancel-execution.ts'
import { notifyTaken } from './notify-moved.ts'
import type { StoredRun } from './ports/runs.ts'
import { isFinished } from './read-execution.ts'

/** Executions that end meanwhile keep their state. If it is interrupted, the run can be canceled again. */
export async function cancelRun(
  deps: CancelDeps,
  caller: Caller,
  runId: number,
  force: boolean,
): Promise<StoredRun> {
  const { ownerNo } = caller
  const before = await getRun(deps, ownerNo, runId)
  if (isFinished(before)) throw new ApiError('J-303', { detail: 'The run has finished.' })
  const move = { ownerNo, runId, event: cancelEvent(force), actor: actorOf(caller) }
  let from: number | undefined
  do {
    const batch = await deps.store.moveRun({ ...move, moment: deps.moment(), from })
    if (batch === undefined) throw new ApiError('J-304')
    notifyTaken(deps, batch.moved)
    from = batch.next
  } while (from !== undefined)
  return getRun(deps, ownerNo, runId)
}

async function getRun({ store }: CancelDeps, ownerNo: number, runId: number): Promise<StoredRun> {
  const run = await store.getRun({ ownerNo, runId })
  if (run === undefined) throw new ApiError('J-304')
  return run
}
