// Resumes a run without some of its devices: their executions that have not started are canceled first, so that they are never released.

import { ApiError } from '@jobcast/contract'
import { actorOf, type Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import type { Store } from '../common/ports/store.ts'
import { cancelAndNotify, type MoveDeps } from '../execution/cancel-execution.ts'
import type { StoredExecution } from '../execution/ports/executions.ts'
import { currentPart } from './roll-out.ts'

type ExcludeDeps = MoveDeps & { store: Pick<Store, 'getRollout' | 'listExecutions'> }

/** Few enough to leave connections to the database for other callers. */
const devicesAtOnce = 8

/** Returns how many were canceled in the current wave. Throws J-500 for a device that is not in the run. */
export async function excludeDevices(
  deps: ExcludeDeps,
  caller: Caller,
  runId: number,
  deviceIds: readonly string[],
): Promise<number> {
  const rollout = deviceIds.length === 0 ? undefined : await pausedRollout(deps, caller, runId)
  // The resume itself then fails with the reason.
  if (rollout === undefined) return 0
  const found: StoredExecution[] = []
  // All executions are found before the first one is canceled.
  for (let at = 0; at < deviceIds.length; at += devicesAtOnce) {
    const some = deviceIds.slice(at, at + devicesAtOnce)
    found.push(...(await Promise.all(some.map((id, index) => findIn(deps, caller, runId, id, at + index)))))
  }
  const waiting = found.filter(({ execState }) => execState === 'PENDING')
  let excluded = 0
  const { from, to } = currentPart(rollout)
  for (let at = 0; at < waiting.length; at += devicesAtOnce) {
    const some = waiting.slice(at, at + devicesAtOnce)
    const canceled = await Promise.all(some.map((each) => cancel(deps, caller, each)))
    const positions = some
      .filter((_, index) => canceled[index])
      .map((each) => each.jobExecutionId - rollout.firstExecutionId)
    excluded += positions.filter((position) => position >= from && position < to).length
  }
  return excluded
}

async function pausedRollout({ store }: ExcludeDeps, { ownerNo }: Caller, runId: number) {
  const rollout = (await store.getRollout({ ownerNo, runId }))?.rollout
  return rollout?.status.state === 'PAUSED' ? rollout : undefined
}

async function findIn(
  { store }: ExcludeDeps,
  { ownerNo }: Caller,
  runId: number,
  deviceId: string,
  index: number,
): Promise<StoredExecution> {
  const slice = { after: undefined, limit: 1 }
  const { items } = await store.listExecutions({ ownerNo, filter: { runId, deviceId }, slice })
  if (items[0]) return items[0]
  const detail = `Run ${runId} has no device ${JSON.stringify(deviceId)}.`
  throw new ApiError('J-500', { field: `except[${index}]`, detail })
}

/** False if it has started or ended meanwhile. */
async function cancel(
  deps: ExcludeDeps,
  caller: Caller,
  { jobExecutionId }: StoredExecution,
): Promise<boolean> {
  const { ownerNo } = caller
  const move = { ownerNo, jobExecutionId, event: 'cancel', actor: actorOf(caller) } as const
  const outcome = await cancelAndNotify(deps, { ...move, ...originOf(caller) })
  return outcome.kind === 'moved' && outcome.execution.execState === 'CANCELED'
}
