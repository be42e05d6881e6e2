// A run with `replaces` cancels the PENDING executions of earlier runs of its job on its devices, in batches, once the run
// is on disk. The store marks the run as not done yet, so any node continues after a crash; repeating it changes nothing.

import { actorOf } from '../access/caller.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { type NotifyDeps, notifyTaken } from '../execution/notify-moved.ts'
import type { BusyDevice, RunRange } from '../schedule/ports/schedules.ts'

const busyAtOnce = 10_000
const supersededAtOnce = 500
/** A call for a larger run is answered before its replacing has finished. */
const replacedAtOnce = 10_000

export type ReplaceDeps = NotifyDeps & {
  store: Pick<
    Store,
    'listReplacing' | 'listReplaced' | 'setReplaced' | 'getRunRange' | 'listBusyDevices' | 'supersede'
  >
  moment: () => Moment
}

type ReplacingRun = { runId: number; keyId: string }

/** Replaces for a run that was just created. Failures are retried later. */
export async function replaceAfterLaunch(
  deps: ReplaceDeps & { onLaunchFailed: (error: unknown) => void },
  run: ReplacingRun,
  total: number,
): Promise<void> {
  const replacing = replaceWaiting(deps, run).catch(deps.onLaunchFailed)
  if (total <= replacedAtOnce) await replacing
}

/** Continues the runs, of any node, that have not finished replacing. */
export async function resumeReplacing(deps: ReplaceDeps): Promise<void> {
  for (const run of await deps.store.listReplacing()) await replaceWaiting(deps, run)
}

async function replaceWaiting(deps: ReplaceDeps, { runId, keyId }: ReplacingRun): Promise<void> {
  const { store } = deps
  const range = await store.getRunRange({ runId })
  const targeted = new Set<number>()
  if (range) for await (const { deviceNo } of busyIn(store, range)) targeted.add(deviceNo)
  for (const earlier of targeted.size === 0 ? [] : await store.listReplaced({ runId })) {
    await supersede(deps, actorOf({ keyId }), busyIn(store, earlier), targeted)
  }
  await store.setReplaced({ runId })
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
