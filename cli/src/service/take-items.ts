// The first items of a list, over several pages if needed.

import type { List } from '@jobcast/client'

export const maxPageSize = 200

export async function takeItems<T>(list: List<T>, limit: number): Promise<{ items: T[]; hasMore: boolean }> {
  const items: T[] = []
  for await (const item of list) {
    if (items.length === limit) return { items, hasMore: true }
    items.push(item)
  }
  return { items, hasMore: false }
}
