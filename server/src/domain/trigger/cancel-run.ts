// Cancels the unfinished executions of a run, in batches, so that the store serves other callers in between. A large run
// takes longer than a caller can wait: it is answered meanwhile, and the rest is canceled in the background.

import { ApiError } from '@jobcast/contract'
import { actorOf, type Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import { isWithin } from '../common/is-within.ts'
import { notFound } from '../common/not-found.ts'
import { type CancelDeps, cancelEvent } from '../execution/cancel-execution.ts'
import { notifyTaken } from '../execution/notify-moved.ts'
import { isFinished } from '../execution/read-execution.ts'
import { markStopped } from '../rollout/stop-rollout.ts'
import type { StoredRun } from './ports/runs.ts'

/** Less than clients and proxies wait for a response. */
const answerWithinMs = 10_000

/** Cancels of runs that this node is carrying out: one that is sent again joins the one under way. */
export type RunCancels = Map<string, Promise<void>>

export type CancelRunDeps = CancelDeps & {
  runCancels: RunCancels
  stopping: AbortSignal
  /** The background part of a cancel has failed. */
  onCancelFailed: (error: unknown) => void
}

/** `isDone`: otherwise executions are still being canceled, and the run has the counts so far. */
type CanceledRun = { run: StoredRun; isDone: boolean }

/** Executions that end meanwhile keep their state. If it is interrupted, the run can be canceled again. */
export async function cancelRun(
  deps: CancelRunDeps,
  caller: Caller,
  runId: number,
  force: boolean,
  withinMs = answerWithinMs,
): Promise<CanceledRun> {
  const { ownerNo } = caller
  const before = await getRun(deps, ownerNo, runId)
  if (isFinished(before)) throw new ApiError('J-303', { detail: 'The run has finished.' })
  const isDone = await cancelWithin(
    deps,
    `${runId} ${force}`,
    () => cancelAll(deps, caller, runId, force),
    withinMs,
  )
  return { run: await getRun(deps, ownerNo, runId), isDone }
}

/** False: it takes longer, and goes on. One that is asked for again under the same name joins the one under way. */
export async function cancelWithin(
  { runCancels, onCancelFailed }: Pick<CancelRunDeps, 'runCancels' | 'onCancelFailed'>,
  name: string,
  cancel: () => Promise<void>,
  withinMs = answerWithinMs,
): Promise<boolean> {
  const canceling = runCancels.get(name) ?? cancel()
  runCancels.set(name, canceling)
  const end = () => runCancels.delete(name)
  canceling.then(end, end)
  const isDone = await isWithin(canceling, withinMs)
  // Whoever was answered does not hear of it any more.
  if (!isDone) canceling.catch(onCancelFailed)
  return isDone
}

async function cancelAll(deps: CancelRunDeps, caller: Caller, runId: number, force: boolean): Promise<void> {
  await markStopped(deps, caller, runId, 'the run was canceled')
  await cancelRest(deps, caller, runId, { event: cancelEvent(force), from: undefined })
}

/** Of what is unfinished, from this execution on. */
export async function cancelRest(
  deps: CancelRunDeps,
  caller: Caller,
  runId: number,
  { event, from: first }: { event: 'cancel' | 'force-cancel' | 'rollout-stopped'; from: number | undefined },
): Promise<void> {
  const move = { ownerNo: caller.ownerNo, runId, event, actor: actorOf(caller) }
  let from = first
  do {
    // One entry of the audit for all of it: with what is moved first.
    const by = from === first ? originOf(caller) : {}
    const batch = await deps.store.moveRun({ ...move, moment: deps.moment(), from, ...by })
    if (batch === undefined) throw notFound('J-304', runId)
    notifyTaken(deps, batch.moved)
    from = batch.next
  } while (from !== undefined && !deps.stopping.aborted)
}

async function getRun({ store }: CancelDeps, ownerNo: number, runId: number): Promise<StoredRun> {
  const run = await store.getRun({ ownerNo, runId })
  if (run === undefined) throw notFound('J-304', runId)
  return run
}
