// Runs as a caller restricted to devices sees them: with the counts of its devices. A run that has other devices, too, is
// shown without its selector and rollout, which cover all of them. A run with only other devices is unknown.

import type { Caller } from '../access/caller.ts'
import { reachOf } from '../access/device-reach.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredRun } from './ports/runs.ts'

export type RunInReach = {
  run: StoredRun
  /** All of its devices exist for the caller. */
  isWhole: boolean
}
type Reaching = Pick<Caller, 'ownerNo' | 'restriction'>
export type RunReachDeps = { store: Pick<Store, 'countRunsWithin'> }

/** In the same order, without runs that are unknown to the caller. */
export async function runsInReach(
  { store }: RunReachDeps,
  caller: Reaching,
  runs: readonly StoredRun[],
): Promise<RunInReach[]> {
  const where = reachOf(caller)
  if (where === undefined) return runs.map((run) => ({ run, isWhole: true }))
  const runIds = runs.map(({ runId }) => runId)
  const found = await store.countRunsWithin({ ownerNo: caller.ownerNo, runIds, where })
  const within = new Map(found.map((each) => [each.runId, each]))
  return runs.flatMap((run) => {
    const part = within.get(run.runId)
    if (part === undefined) return []
    if (part.total === run.total) return { run, isWhole: true }
    return { run: { ...run, ...part, where: null, matched: null }, isWhole: false }
  })
}

/** Undefined: the run is unknown to the caller. */
export async function runInReach(
  deps: RunReachDeps,
  caller: Reaching,
  run: StoredRun,
): Promise<RunInReach | undefined> {
  const [seen] = await runsInReach(deps, caller, [run])
  return seen
}
