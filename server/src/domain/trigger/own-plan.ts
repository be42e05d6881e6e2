// An assistant starts only its own plans: a plan of another principal was never shown to its user.

import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import { foreignPlan } from './bind-plan.ts'

export type OwnPlanDeps = { store: Pick<Store, 'getPlan'> }

/** Ignores unknown plans: `startPlan` refuses them. */
export async function requireOwnPlan({ store }: OwnPlanDeps, caller: Caller, planId: string): Promise<void> {
  const plan = await store.getPlan({ ownerNo: caller.ownerNo, planId })
  if (plan !== undefined && plan.plannedBy !== principalOf(caller)) throw foreignPlan()
}
