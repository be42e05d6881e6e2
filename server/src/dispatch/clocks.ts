// Lets the clocks of executions run out: expiry, time-outs, deadlines, retries, cancels that were not confirmed.

import type { ChangeSignal } from '../domain/change-signal.ts'
import type { DeviceLink } from '../domain/device-link.ts'
import { isActive, type Moment } from '../domain/execution.ts'
import { tellMoved } from '../domain/report-execution.ts'
import type { Store } from '../domain/store.ts'

export type ClockDeps = {
  store: Pick<Store, 'fireClocks'>
  moment: () => Moment
  link: DeviceLink
  changes: ChangeSignal
  stopping: AbortSignal
}

/** In bites: between two of them the writer gets to everybody else. */
export async function fireClocks(deps: ClockDeps): Promise<void> {
  for (let more = true; more && !deps.stopping.aborted; ) {
    const fired = await deps.store.fireClocks(deps.moment())
    tellMoved(deps, fired.moved)
    for (const { from, execState, jobExecutionId, ...device } of fired.moved) {
      if (isActive(from) && !isActive(execState)) deps.link.withdraw(device, jobExecutionId)
    }
    more = fired.more
  }
}
