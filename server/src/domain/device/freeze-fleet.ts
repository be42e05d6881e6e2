// Freezes the fleet of an owner: nothing is offered to its devices any more, what runs goes on.

import { ApiError, type FreezeRequest, parseInstant } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredFreeze } from '../rollout/ports/rollouts.ts'

export type FreezeDeps = {
  store: Store
  now: () => number
  /** Takes effect on all nodes. */
  freezes: { changed(): Promise<void> }
}

export async function freezeFleet(
  { store, now, freezes }: FreezeDeps,
  caller: Caller,
  { reason, until }: FreezeRequest,
): Promise<StoredFreeze> {
  const at = now()
  const ends = until === undefined || until === null ? null : parseInstant(until)
  if (ends !== null && ends <= at) {
    throw new ApiError('J-500', { field: 'until', detail: 'until must be in the future.' })
  }
  const freeze = { reason, principal: principalOf(caller), at, until: ends }
  await store.freezeFleet({ ...freeze, ownerNo: caller.ownerNo })
  await freezes.changed()
  return freeze
}

/** Ending what has ended is no error. */
export async function unfreezeFleet({ store, now, freezes }: FreezeDeps, caller: Caller): Promise<void> {
  const { ownerNo } = caller
  await store.unfreezeFleet({ ownerNo, principal: principalOf(caller), at: now() })
  await freezes.changed()
}
