// Types that the ports of the store share: slices of lists, and results of puts.

/** A slice of a list. `after` is where the slice before ended, undefined for the first. */
export type Slice<Key> = { after: Key | undefined; limit: number }

/** `next` is where the next slice starts after; undefined at the end of the list. */
export type Sliced<T, Key> = { items: T[]; next: Key | undefined }

/** A slice of an owner's resources. */
export type OwnerList<Key> = { ownerNo: number; slice: Slice<Key> }

/**
 * `isSame`: only the time of its last put has changed. `isRefused`: the precondition did not hold, and nothing was
 * written.
 */
export type Put<T> = { created: boolean; value: T; isSame?: true; isRefused?: true }
