// A list that shows only part of what its owner has, in slices of that part. No cursor names what is not shown.

import type { Slice, Sliced } from './ports/slices.ts'

/** At least so many are read at once. */
const readAtOnce = 500

/** For lists that a quota bounds: it reads on until the slice is full. */
export async function listVisible<T>(
  list: (slice: Slice<string>) => Promise<Sliced<T, string>>,
  { after, limit }: Slice<string>,
  isVisible: (item: T) => boolean,
  keyOf: (item: T) => string,
): Promise<Sliced<T, string>> {
  const found: T[] = []
  for (let next = after; ; ) {
    const read = await list({ after: next, limit: Math.max(limit, readAtOnce) })
    found.push(...read.items.filter(isVisible))
    const last = found[limit - 1]
    if (found.length > limit && last !== undefined) return { items: found.slice(0, limit), next: keyOf(last) }
    if (read.next === undefined) return { items: found, next: undefined }
    next = read.next
  }
}
