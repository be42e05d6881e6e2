// Freezes the fleet of an owner: devices are offered no work, running executions continue.

import { ApiError, type FreezeRequest, parseInstant } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { originOf } from '../audit/audit.ts'
import type { BothClocks } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredFreeze } from '../rollout/ports/rollouts.ts'

export type FreezeDeps = {
  store: Store
  moment: () => BothClocks
  /** Takes effect on all nodes. */
  freezes: { changed(): Promise<void> }
}

export async function freezeFleet(
  { store, moment, freezes }: FreezeDeps,
  caller: Caller,
  { reason, until }: FreezeRequest,
): Promise<StoredFreeze> {
  const { at, clock } = moment()
  const ends = until === undefined || until === null ? null : parseInstant(until)
  if (ends !== null && ends <= at) {
    throw new ApiError('J-500', { field: 'until', detail: 'until must be in the future.' })
  }
  const freeze = { reason, principal: principalOf(caller), at, until: ends }
  await store.freezeFleet({ ...freeze, clock, ownerNo: caller.ownerNo, ...originOf(caller) })
  await freezes.changed()
  return freeze
}

/** Idempotent. */
export async function unfreezeFleet({ store, moment, freezes }: FreezeDeps, caller: Caller): Promise<void> {
  const { ownerNo } = caller
  const { at, clock } = moment()
  await store.unfreezeFleet({ ownerNo, principal: principalOf(caller), at, clock, ...originOf(caller) })
  await freezes.changed()
}
