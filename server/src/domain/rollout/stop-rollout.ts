// A run that is canceled or rolled back is not released any further.

import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { originOf } from '../audit/audit.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { pauseRollout } from './judge-rollout.ts'
import { isFinal } from './rollout.ts'

type StopDeps = { store: Pick<Store, 'getRollout' | 'changeRollout'>; moment: () => Moment }

/** Executions that are held back stay so until the rollout ticker cancels them. */
export async function markStopped(
  { store, moment }: StopDeps,
  caller: Caller,
  runId: number,
  because: string,
): Promise<void> {
  for (;;) {
    const found = await store.getRollout({ ownerNo: caller.ownerNo, runId })
    if (found === undefined || isFinal(found.rollout.status)) return
    const { rollout: before } = found
    const principal = principalOf(caller)
    const { wave, released } = before.status
    const paused = pauseRollout(before.status, { rule: 'PRINCIPAL', because, by: principal })
    const status = { ...paused, state: 'ABORTED' } as const
    const details = { wave: wave + 1, released, because, principal }
    const events = [{ type: 'run.aborted', details } as const]
    const change = { before, status, nextAt: null, events, moment: moment(), ...originOf(caller) }
    if (await store.changeRollout(change)) return
  }
}
