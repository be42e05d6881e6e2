// Finds the owner of a bridge by the name or the id in its settings.

import type { StoredOwner } from '../access/ports/owners.ts'
import type { Store } from '../common/ports/store.ts'

/** Ids take precedence, so that an owner named like the id of another one cannot replace it. */
export async function findBridgeOwner(
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>,
  ownerName: string,
): Promise<StoredOwner | undefined> {
  return (await store.findOwner({ ownerId: ownerName })) ?? (await store.findOwnerByName({ ownerName }))
}

/** The bridges of one owner. */
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
