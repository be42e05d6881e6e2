// An assistant starts only what it has planned itself. A plan that somebody else has made was shown to somebody else.

import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import { foreignPlan } from './bind-plan.ts'

export type OwnPlanDeps = { store: Pick<Store, 'getPlan'> }

/** A plan that does not exist starts nothing, so it is left to `startPlan` to say so. */
export async function requireOwnPlan({ store }: OwnPlanDeps, caller: Caller, planId: string): Promise<void> {
  const plan = await store.getPlan({ ownerNo: caller.ownerNo, planId })
  if (plan !== undefined && plan.plannedBy !== principalOf(caller)) throw foreignPlan()
}
