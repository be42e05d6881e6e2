// An execution whose document needs an attribute that its device does not have any more: nobody can carry it out.

import type { Moment } from './execution.ts'
import { type NotifyDeps, notifyTaken } from './notify-moved.ts'
import type { DeviceKey } from './ports/devices.ts'
import type { Store } from './ports/store.ts'
import { service } from './principal.ts'

export type UnresolvedDeps = NotifyDeps & { store: Pick<Store, 'moveExecution'>; moment: () => Moment }

/** It is CANCELED. One that has ended meanwhile stays as it is. */
export async function endUnresolved(
  deps: UnresolvedDeps,
  { ownerNo, deviceId, jobExecutionId }: DeviceKey & { jobExecutionId: number },
): Promise<void> {
  const event = 'force-cancel'
  const move = { ownerNo, jobExecutionId, event, moment: deps.moment(), actor: service } as const
  const outcome = await deps.store.moveExecution(move)
  if (outcome.kind !== 'moved') return
  const { runId, execState } = outcome.execution
  notifyTaken(deps, [{ ownerNo, deviceId, jobExecutionId, runId, from: outcome.from, execState }])
}
