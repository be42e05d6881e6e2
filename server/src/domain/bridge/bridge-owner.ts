// Whose devices a bridge is for: its settings have a name or an id.

import type { StoredOwner } from '../access/ports/owners.ts'
import type { Store } from '../common/ports/store.ts'

/** By its id first: whoever is named like the id of another owner does not stand in for that one. */
export async function findBridgeOwner(
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>,
  ownerName: string,
): Promise<StoredOwner | undefined> {
  return (await store.findOwner({ ownerId: ownerName })) ?? (await store.findOwnerByName({ ownerName }))
}

/** Those of one owner. */
export async function bridgesOf<T extends { ownerName: string }>(
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>,
  ownerId: string,
  all: readonly T[],
): Promise<T[]> {
  const names = [...new Set(all.map(({ ownerName }) => ownerName))]
  const owners = await Promise.all(names.map((name) => findBridgeOwner(store, name)))
  const ours = new Set(names.filter((_, index) => owners[index]?.ownerId === ownerId))
  return all.filter(({ ownerName }) => ours.has(ownerName))
}
