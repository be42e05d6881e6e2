// The first items of a list, over as many pages as it takes.

import type { List } from '@jobcast/client'

export const mostOfPage = 200

export async function takeItems<T>(list: List<T>, most: number): Promise<{ items: T[]; hasMore: boolean }> {
  const items: T[] = []
  for await (const item of list) {
    if (items.length === most) return { items, hasMore: true }
    items.push(item)
  }
  return { items, hasMore: false }
}
