import type { Slice, Sliced } from '../../common/ports/slices.ts'

export type StoredOwner = { ownerNo: number; ownerId: string; ownerName: string; createdAt: number }

export type OwnerStore = {
  /** `creator`: the owner whose event log gets the event. */
  createOwner(
    owner: Omit<StoredOwner, 'ownerNo'> & { creator?: { ownerNo: number; principal: string } },
  ): Promise<StoredOwner | 'name-taken'>
  findOwner(owner: { ownerId: string }): Promise<StoredOwner | undefined>
  findOwnerByName(owner: { ownerName: string }): Promise<StoredOwner | undefined>
  listOwners(slice: Slice<number>): Promise<Sliced<StoredOwner, number>>
}
