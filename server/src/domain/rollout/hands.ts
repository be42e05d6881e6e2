// Whose hand is in a run: who created, changed or fired it. None of them approves it.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import { handsIn } from './approval.ts'
import type { RolloutFactsFound } from './ports/rollouts.ts'

type HandsDeps = { store: Pick<Store, 'findApiKey'> }

export function lineageOfCaller({ store }: HandsDeps, caller: Caller): Promise<string> {
  return lineageOf(store, principalOf(caller))
}

/** Gives the lineage of the caller. Throws J-810. */
export async function requireNoHand(
  deps: HandsDeps,
  caller: Caller,
  { rollout: { status }, keyId }: Pick<RolloutFactsFound, 'rollout' | 'keyId'>,
): Promise<string> {
  const lineage = await lineageOfCaller(deps, caller)
  const maker = keyId === null ? [] : [await lineageOf(deps.store, principalOf({ keyId }))]
  if ([...maker, ...handsIn(status)].includes(lineage)) throw new ApiError('J-810')
  return lineage
}
