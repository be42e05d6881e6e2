// Who is involved in a run: those who created, changed or started it, or have since changed its window or the groups of its
// gate. None of them can approve it.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { changersSince } from '../access/changers.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredRun } from '../trigger/ports/runs.ts'
import { handsIn } from './approval.ts'
import type { RolloutFactsFound } from './ports/rollouts.ts'
import type { StoredRollout } from './rollout.ts'
import { groupsOfGate } from './rollout-selectors.ts'

type HandsDeps = { store: Pick<Store, 'findApiKey'> }
type ChangersDeps = { store: Pick<Store, 'getWindow' | 'findGroups'> }

export function lineageOfCaller({ store }: HandsDeps, caller: Caller): Promise<string> {
  return lineageOf(store, principalOf(caller))
}

/** Returns the lineage of the caller. Throws J-810 if the caller is involved. */
export async function requireNoHand(
  deps: HandsDeps & ChangersDeps & { store: Pick<Store, 'getRun'> },
  caller: Caller,
  { rollout }: Pick<RolloutFactsFound, 'rollout'>,
): Promise<string> {
  const lineage = await lineageOfCaller(deps, caller)
  const { ownerNo, runId } = rollout
  const run = await deps.store.getRun({ ownerNo, runId })
  if (run !== undefined && (await hasHand(deps, lineage, rollout, run))) throw new ApiError('J-810')
  return lineage
}

type MadeRun = Pick<StoredRun, 'keyId' | 'window' | 'launchedAt'>

/** Whether a principal of this lineage is involved in the run. */
export async function hasHand(
  deps: HandsDeps & ChangersDeps,
  lineage: string,
  rollout: StoredRollout,
  run: MadeRun,
): Promise<boolean> {
  if (handsIn(rollout.status).includes(lineage)) return true
  const { keyId } = run
  if (keyId !== null && (await lineageOf(deps.store, principalOf({ keyId }))) === lineage) return true
  return (await changersOf(deps, rollout, run)).includes(lineage)
}

/** Who has changed the run's window, or a group that its gate refers to, since the run was created. */
async function changersOf(
  { store }: ChangersDeps,
  { ownerNo, plan }: StoredRollout,
  { window: windowName, launchedAt }: MadeRun,
): Promise<string[]> {
  const window = windowName === null ? undefined : await store.getWindow({ ownerNo, windowName })
  const groups = await groupsOfGate({ store }, ownerNo, plan.rollout)
  return [window, ...groups].flatMap((each) => changersSince(each?.changers ?? null, launchedAt))
}
