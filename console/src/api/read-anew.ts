// After a change that this page has made: what it touches is read again at once, whether or not an event tells of it.

import type { Key } from '../live/affected-keys.ts'
import { queryClient } from './query-client.ts'
import { refreshLists } from './use-list.ts'

export async function readAnew(...keys: Key[]): Promise<void> {
  await Promise.all(
    keys.flatMap((queryKey) => [queryClient.invalidateQueries({ queryKey }), refreshLists(queryKey)]),
  )
}
