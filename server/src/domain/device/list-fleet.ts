// The devices of the fleet with their latest executions, in the order of their ids. A caller restricted to devices sees only these.

import type { Caller } from '../access/caller.ts'
import { reachOf } from '../access/device-reach.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredFleetDevice } from './ports/fleet.ts'
import { listWithShownCursor } from './shown-cursor.ts'

export type ListFleetStore = Pick<Store, 'listFleetDevices' | 'selectDevices'>

export async function listFleet(
  store: ListFleetStore,
  caller: Pick<Caller, 'ownerNo' | 'restriction'>,
  slice: Slice<string>,
): Promise<Sliced<StoredFleetDevice, string>> {
  const { ownerNo } = caller
  const where = reachOf(caller)
  if (where === undefined) return store.listFleetDevices({ ownerNo, slice })
  const select = (part: Slice<string>) => store.selectDevices({ ownerNo, where, slice: part })
  const { items: selected, next } = await listWithShownCursor(select, slice)
  if (selected.length === 0) return { items: [], next }
  const deviceIds = selected.map(({ deviceId }) => deviceId)
  const { items } = await store.listFleetDevices({ ownerNo, deviceIds, slice })
  return { items, next }
}
