// What the ports of the store share: slices of lists, and answers of puts.

/** A slice of a list. `after` is where the slice before ended, undefined for the first. */
export type Slice<Key> = { after: Key | undefined; limit: number }

/** `next` is where the next slice starts after; undefined at the end of the list. */
export type Sliced<T, Key> = { items: T[]; next: Key | undefined }

/** A slice of what an owner has. */
export type OwnerList<Key> = { ownerNo: number; slice: Slice<Key> }

/**
 * `isSame`: nothing but the instant of its last put has changed. `isRefused`: it is not one of the expected, and nothing
 * was written.
 */
export type Put<T> = { created: boolean; value: T; isSame?: true; isRefused?: true }
