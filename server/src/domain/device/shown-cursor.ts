// Cursors of lists of devices that a selector chooses. The store may end a page at a device that was checked and does not match; a
// caller that is restricted to devices must not learn its id.

import type { Slice, Sliced } from '../common/ports/slices.ts'

/** Reads until a page has a device, and continues after that one. */
export async function listWithShownCursor<Item extends { deviceId: string }>(
  list: (slice: Slice<string>) => Promise<Sliced<Item, string>>,
  { after, limit }: Slice<string>,
): Promise<Sliced<Item, string>> {
  for (let from = after; ; ) {
    const { items, next } = await list({ after: from, limit })
    const last = items.at(-1)
    if (next === undefined) return { items, next }
    if (last !== undefined) return { items, next: last.deviceId }
    from = next
  }
}
