// The bridges of the caller's owner. Cursors come from the store, all other fields from the node that runs each bridge.

import type { Caller } from '../access/caller.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { KnownBridge } from './bridge.ts'
import { bridgesOf } from './bridge-owner.ts'

export type ListBridgesDeps = {
  store: Pick<Store, 'findOwner' | 'findOwnerByName' | 'getBridgeCursor'>
  /** Lists the bridges of all owners. */
  bridgeViews: { list(): KnownBridge[] }
}

export type ListedBridge = KnownBridge & { cursor: number | null }

export async function listBridges(
  { store, bridgeViews }: ListBridgesDeps,
  { ownerId, ownerNo }: Caller,
  { after = '', limit }: Slice<string>,
): Promise<Sliced<ListedBridge, string>> {
  const ours = (await bridgesOf(store, ownerId, bridgeViews.list()))
    .filter(({ bridgeName }) => bridgeName > after)
    .toSorted((one, other) => (one.bridgeName < other.bridgeName ? -1 : 1))
  const items = await Promise.all(
    ours.slice(0, limit).map(async (bridge) => {
      const { bridgeName, events } = bridge
      const cursor = events === null ? undefined : await store.getBridgeCursor({ bridgeName, ownerNo })
      return { ...bridge, cursor: cursor ?? null }
    }),
  )
  return { items, next: ours.length > limit ? items.at(-1)?.bridgeName : undefined }
}
