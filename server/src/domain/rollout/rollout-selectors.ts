// The selectors of a rollout: of its waves, and of its gates.

import { ApiError, type Rollout, rolloutProblem } from '@jobcast/contract'
import type { Store } from '../common/ports/store.ts'
import { readSelector } from '../selector/selector.ts'
import type { RunPart } from './ports/rollouts.ts'

type SelectorStore = { store: Pick<Store, 'matchDevices' | 'countConfirmed'> & Store }

/** How many devices are named to the store at once. */
const namedAtOnce = 5000

/** Throws J-500, J-503 and J-309. */
export async function requireRollout(
  deps: { store: Store },
  { ownerNo }: { ownerNo: number },
  rollout: Rollout,
): Promise<void> {
  const problem = rolloutProblem(rollout)
  if (problem) throw new ApiError('J-500', problem)
  const wheres = (rollout.waves ?? []).map(({ where }, index) => ({
    where,
    field: `rollout.waves[${index}].where`,
  }))
  const checked = new Set<string>()
  for (const { where, field } of [...wheres, { where: rollout.next?.where, field: 'rollout.next.where' }]) {
    if (where === undefined || checked.has(where)) continue
    checked.add(where)
    await readSelector(deps, { ownerNo }, where, field)
  }
}

export async function matchDevices(
  deps: SelectorStore,
  ownerNo: number,
  where: string,
  deviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const selector = await readSelector(deps, { ownerNo }, where)
  const found = new Set<string>()
  for (let start = 0; start < deviceIds.length; start += namedAtOnce) {
    const named = deviceIds.slice(start, start + namedAtOnce)
    const matching = await deps.store.matchDevices({ ownerNo, where: selector, deviceIds: named })
    for (const deviceId of matching) found.add(deviceId)
  }
  return found
}

/** A gate whose group is gone confirms nobody. */
export async function countConfirmed(
  deps: SelectorStore,
  { where, ...part }: RunPart & { where: string },
): Promise<number> {
  try {
    const selector = await readSelector(deps, part, where)
    return await deps.store.countConfirmed({ ...part, where: selector })
  } catch (error) {
    if (error instanceof ApiError) return 0
    throw error
  }
}
