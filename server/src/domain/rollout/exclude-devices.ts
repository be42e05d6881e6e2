// Resumes a run without some of its devices: their executions that have not started are canceled with the resume, in one
// transaction, so that they are never released.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moved, StoredExecution } from '../execution/ports/executions.ts'
import type { EndedCounts } from './gate.ts'
import type { RolloutFacts } from './judge-rollout.ts'
import { type StoredRollout, waveParts } from './rollout.ts'

type ExcludeDeps = { store: Pick<Store, 'listExecutions'> }

/** `inWave`: how many of them are in each wave. */
export type Excluded = { moved: Moved[]; inWave: number[] }

/** Few enough to leave connections to the database for other callers. */
const devicesAtOnce = 8

/** The executions to cancel. Throws J-500 for a device that is not in the run. */
export async function findExcluded(
  deps: ExcludeDeps,
  { ownerNo }: Caller,
  { runId, firstExecutionId, plan }: StoredRollout,
  deviceIds: readonly string[],
): Promise<Excluded> {
  const found = new Map<number, StoredExecution>()
  for (let at = 0; at < deviceIds.length; at += devicesAtOnce) {
    const some = deviceIds.slice(at, at + devicesAtOnce)
    const executions = some.map((deviceId, index) => findIn(deps, { ownerNo, runId }, deviceId, at + index))
    for (const each of await Promise.all(executions)) found.set(each.jobExecutionId, each)
  }
  const waiting = [...found.values()].filter(({ execState }) => execState === 'PENDING')
  const moved = waiting.map(
    ({ deviceId, jobExecutionId }): Moved => ({
      ...{ ownerNo, deviceId, jobExecutionId, runId },
      ...{ from: 'PENDING', execState: 'CANCELED' },
    }),
  )
  const inWave = waveParts(plan.sizes).map(({ from, to }) => {
    const [first, end] = [firstExecutionId + from, firstExecutionId + to]
    return moved.filter(({ jobExecutionId: id }) => id >= first && id < end).length
  })
  return { moved, inWave }
}

type Counts = Pick<RolloutFacts, 'run' | 'wave' | 'canceled'>

/** The counts once they are canceled. */
export function countsWithout<C extends Counts>(
  counts: C,
  { moved, inWave }: Excluded,
  currentWave: number,
): C {
  return {
    ...counts,
    run: withCanceled(counts.run, moved.length),
    wave: withCanceled(counts.wave, inWave[currentWave] ?? 0),
    canceled: counts.canceled?.map((count, index) => count + (inWave[index] ?? 0)),
  }
}

function withCanceled(counts: EndedCounts, count: number): EndedCounts {
  return { ...counts, CANCELED: (counts.CANCELED ?? 0) + count }
}

async function findIn(
  { store }: ExcludeDeps,
  { ownerNo, runId }: { ownerNo: number; runId: number },
  deviceId: string,
  index: number,
): Promise<StoredExecution> {
  const slice = { after: undefined, limit: 1 }
  const { items } = await store.listExecutions({ ownerNo, filter: { runId, deviceId }, slice })
  if (items[0]) return items[0]
  const detail = `Run ${runId} has no device ${JSON.stringify(deviceId)}.`
  throw new ApiError('J-500', { field: `except[${index}]`, detail })
}
