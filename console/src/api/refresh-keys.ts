// Reloads affected data at once after a change by this page, without waiting for an event.

import type { Key } from '../live/affected-keys.ts'
import { queryClient } from './query-client.ts'
import { refreshLists } from './use-list.ts'

export async function refreshKeys(...keys: Key[]): Promise<void> {
  await Promise.all(
    keys.flatMap((queryKey) => [queryClient.invalidateQueries({ queryKey }), refreshLists(queryKey)]),
  )
}
