// Cancels the unfinished executions of a run, in batches, so that the store serves other callers in between. A large run
// takes longer than a caller can wait: it is answered meanwhile, and the rest is canceled in the background.

import { ApiError } from '@jobcast/contract'
import { actorOf, type Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import { isWithin } from '../common/is-within.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import { type CancelDeps, cancelEvent } from '../execution/cancel-execution.ts'
import { notifyTaken } from '../execution/notify-moved.ts'
import { isFinished } from '../execution/read-execution.ts'
import { markStopped } from '../rollout/stop-rollout.ts'
import type { StoredRun } from './ports/runs.ts'

/** Less than clients and proxies wait for a response. */
const answerWithinMs = 10_000

/** Cancels in progress on this node: a repeated cancel joins the one in progress. */
export type RunCancels = Map<string, Promise<void>>

export type CancelRunDeps = CancelDeps & {
  runCancels: RunCancels
  /** The number of parts of a run that are canceled at once, by default 1: more only help if the store writes concurrently. */
  cancelParts?: number
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

/** False: it takes longer, and continues. A second cancel with the same name joins the one in progress. */
async function cancelWithin(
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
  // The caller has been answered, so a failure can only be logged.
  if (!isDone) canceling.catch(onCancelFailed)
  return isDone
}

async function cancelAll(deps: CancelRunDeps, caller: Caller, runId: number, force: boolean): Promise<void> {
  await markStopped(deps, caller, runId, 'the run was canceled')
  await cancelRest(deps, caller, runId, { event: cancelEvent(force), from: undefined })
}

/** Cancels the unfinished executions from this one on. */
export async function cancelRest(
  deps: CancelRunDeps,
  caller: Caller,
  runId: number,
  { event, from }: { event: 'cancel' | 'force-cancel' | 'rollout-stopped'; from: number | undefined },
): Promise<void> {
  const move = { ownerNo: caller.ownerNo, runId, event, actor: actorOf(caller) }
  // One audit entry for all of it, written with the first batch.
  const next = await cancelBatch(deps, { ...move, from, ...originOf(caller) })
  if (next === undefined) return
  const { last = next } = (await deps.store.getRunRange({ runId })) ?? {}
  const { cancelParts = 1 } = deps
  const size = Math.ceil((last - next + 1) / cancelParts)
  const parts = Array.from({ length: cancelParts }, (_, index) => next + index * size)
  await Promise.all(
    parts.map((start) => cancelPart(deps, { ...move, from: start, to: Math.min(last, start + size - 1) })),
  )
}

type RunMove = Omit<Parameters<Store['moveRun']>[0], 'moment'>

async function cancelPart(deps: CancelRunDeps, move: RunMove): Promise<void> {
  for (let { from } = move; from !== undefined && !deps.stopping.aborted; ) {
    from = await cancelBatch(deps, { ...move, from })
  }
}

/** Returns where the next batch begins. */
async function cancelBatch(deps: CancelRunDeps, move: RunMove): Promise<number | undefined> {
  const batch = await deps.store.moveRun({ ...move, moment: deps.moment() })
  if (batch === undefined) throw notFound('J-304', move.runId)
  notifyTaken(deps, batch.moved)
  return batch.next
}

async function getRun({ store }: CancelDeps, ownerNo: number, runId: number): Promise<StoredRun> {
  const run = await store.getRun({ ownerNo, runId })
  if (run === undefined) throw notFound('J-304', runId)
  return run
}
