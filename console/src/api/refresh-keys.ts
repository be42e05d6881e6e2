// Reloads affected data at once after a change by this page, without waiting for an event.

import type { Key } from '../live/affected-keys.ts'
import { queryCache } from './query-cache.ts'
import { refreshLists } from './use-list.ts'

export async function refreshKeys(...keys: Key[]): Promise<void> {
  await Promise.all(keys.flatMap((queryKey) => [queryCache.invalidate(queryKey), refreshLists(queryKey)]))
}
