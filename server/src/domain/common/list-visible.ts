// Pages of a list of which the caller may see only a part. Cursors never name hidden items.

import type { Slice, Sliced } from './ports/slices.ts'

/** Minimum size of a read. */
const readAtOnce = 500

/** Only for lists bounded by a quota, because it reads until the slice is full. */
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
