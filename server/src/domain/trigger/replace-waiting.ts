// A run with `replaces` cancels the PENDING executions of earlier runs of its job on its devices, in batches, once the run
// is on disk and approved. The store marks the run as not done yet, so any node continues after a crash; repeating it changes
// nothing.

import { actorOf } from '../access/caller.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { type NotifyDeps, notifyTaken } from '../execution/notify-moved.ts'
import { hasBegun } from '../rollout/judge-rollout.ts'
import { isFinal, type StoredRollout } from '../rollout/rollout.ts'
import type { BusyDevice, RunRange } from '../schedule/ports/schedules.ts'

const busyAtOnce = 10_000
const supersededAtOnce = 500
/** A call for a larger run is answered before its replacing has finished. */
const replacedAtOnce = 10_000
const runsAtOnce = 100

export type ReplaceDeps = NotifyDeps & {
  store: Pick<
    Store,
    | 'listReplacing'
    | 'listReplaced'
    | 'setReplaced'
    | 'getRollout'
    | 'getRunRange'
    | 'listBusyDevices'
    | 'supersede'
  >
  moment: () => Moment
}

export type ReplaceAfterDeps = ReplaceDeps & { onLaunchFailed: (error: unknown) => void }
type ReplacingRun = { ownerNo: number; runId: number; keyId: string }

/** Replaces for a run that was just created. Failures are retried later. */
export async function replaceAfterLaunch(
  deps: ReplaceAfterDeps,
  run: ReplacingRun,
  total: number,
): Promise<void> {
  const replacing = replaceWaiting(deps, run).catch(deps.onLaunchFailed)
  if (total <= replacedAtOnce) await replacing
}

/** Replaces for a run that waited for approval, and has begun. */
export async function replaceAfterApproval(
  deps: ReplaceAfterDeps & { store: Pick<Store, 'getRun'> },
  key: { ownerNo: number; runId: number },
): Promise<void> {
  const run = await deps.store.getRun(key)
  if (run?.replaces && run.keyId !== null) {
    await replaceAfterLaunch(deps, { ...key, keyId: run.keyId }, run.total)
  }
}

/** Continues the runs, of any node, that have not finished replacing. */
export async function resumeReplacing(deps: ReplaceDeps): Promise<void> {
  for (let after = 0; ; ) {
    const runs = await deps.store.listReplacing({ after, limit: runsAtOnce })
    for (const run of runs) await replaceWaiting(deps, run)
    if (runs.length < runsAtOnce) return
    after = runs.at(-1)?.runId ?? after
  }
}

async function replaceWaiting(deps: ReplaceDeps, { ownerNo, runId, keyId }: ReplacingRun): Promise<void> {
  const { store } = deps
  const found = await store.getRollout({ ownerNo, runId })
  if (found && isUnapproved(found.rollout)) {
    if (isFinal(found.rollout.status)) await store.setReplaced({ runId })
    return
  }
  const range = await store.getRunRange({ runId })
  const targeted = new Set<number>()
  if (range) for await (const { deviceNo } of busyIn(store, range)) targeted.add(deviceNo)
  for (const earlier of targeted.size === 0 ? [] : await store.listReplaced({ runId })) {
    await supersede(deps, actorOf({ keyId }), busyIn(store, earlier), targeted)
  }
  await store.setReplaced({ runId })
}

/** A run that needs an approval to begin replaces nothing before, and nothing at all if it is denied or canceled. */
function isUnapproved({ plan, status }: StoredRollout): boolean {
  return plan.approval !== false && !hasBegun(status)
}

/** The unfinished executions of the run. */
export async function* busyIn(
  store: Pick<Store, 'listBusyDevices'>,
  { first, last }: Pick<RunRange, 'first' | 'last'>,
): AsyncGenerator<BusyDevice> {
  for (let from = first; from <= last; ) {
    const found = await store.listBusyDevices({ first: from, last, limit: busyAtOnce })
    yield* found
    from = found.length < busyAtOnce ? last + 1 : (found.at(-1)?.jobExecutionId ?? last) + 1
  }
}

/** Cancels PENDING executions; those in progress continue, and the new execution queues behind them. */
export async function supersede(
  deps: NotifyDeps & { store: Pick<Store, 'supersede'>; moment: () => Moment },
  actor: string,
  busy: AsyncIterable<BusyDevice> | Iterable<BusyDevice>,
  targeted: ReadonlySet<number>,
): Promise<void> {
  let batch: number[] = []
  const cancel = async () => {
    const jobExecutionIds = batch
    batch = []
    if (jobExecutionIds.length === 0) return
    notifyTaken(deps, await deps.store.supersede({ jobExecutionIds, moment: deps.moment(), actor }))
  }
  for await (const { deviceNo, execState, jobExecutionId } of busy) {
    if (execState !== 'PENDING' || !targeted.has(deviceNo)) continue
    if (batch.push(jobExecutionId) === supersededAtOnce) await cancel()
  }
  await cancel()
}
