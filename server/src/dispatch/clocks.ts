// Applies the due clocks of executions: expiry, time-outs, deadlines, retries, cancels that were not confirmed.

import type { Store } from '../domain/common/ports/store.ts'
import type { Moment } from '../domain/execution/execution.ts'
import { type NotifyDeps, notifyTaken } from '../domain/execution/notify-moved.ts'

export type ClockDeps = NotifyDeps & {
  store: Pick<Store, 'fireClocks'>
  moment: () => Moment
  stopping: AbortSignal
}

/** In batches, so that the store serves other callers in between. */
export async function fireClocks(deps: ClockDeps): Promise<void> {
  for (let more = true; more && !deps.stopping.aborted; ) {
    const fired = await deps.store.fireClocks(deps.moment())
    notifyTaken(deps, fired.moved)
    more = fired.more
  }
}
