// Runs as they exist for a caller that is restricted to devices: with the counts of those. A run that has others too is
// shown without what is counted or said of all of them: its selector and its rollout. One that has only others is unknown.

import type { Caller } from '../access/caller.ts'
import { reachOf } from '../access/device-reach.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredRun } from './ports/runs.ts'

export type RunInReach = {
  run: StoredRun
  /** All of its devices exist for the caller. */
  isWhole: boolean
}
export type RunReachDeps = { store: Pick<Store, 'countRunsWithin'> }

/** In the order of the list, without those that are unknown. */
export async function runsInReach(
  { store }: RunReachDeps,
  caller: Caller,
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

/** Undefined: it is unknown to the caller. */
export async function runInReach(
  deps: RunReachDeps,
  caller: Caller,
  run: StoredRun,
): Promise<RunInReach | undefined> {
  const [seen] = await runsInReach(deps, caller, [run])
  return seen
}
