// Reloads what events have invalidated, each key at its own pace: at once, then not again before the request is done and
// a pause is over. So ten thousand events a second cost as many requests as two do.

import { queryClient } from '../api/query-client.ts'
import { refreshLists, shownListKeys } from '../api/use-list.ts'
import type { Key } from './affected-keys.ts'

const pauseMs = 500

/** True: touched again while it is being read or pauses. */
const busy = new Map<string, boolean>()

/** Only what was read can be out of date: of ten thousand executions that move, few are on the screen. */
export function refresh(keys: Iterable<Key>): void {
  const read = readKeys()
  const wanted = new Map(Array.from(keys, (key) => [JSON.stringify(key), key]))
  for (const [name, key] of wanted) {
    if (!read.has(name)) continue
    if (busy.has(name)) busy.set(name, true)
    else void keepReading(name, key)
  }
}

/** All that `affectedKeys` could name: the first one or two parts of what was read. */
function readKeys(): Set<string> {
  const queries = queryClient.getQueryCache().getAll()
  const keys = [...queries.map(({ queryKey }) => queryKey), ...shownListKeys()]
  return new Set(keys.flatMap((key) => [JSON.stringify(key.slice(0, 1)), JSON.stringify(key.slice(0, 2))]))
}

async function keepReading(name: string, key: Key): Promise<void> {
  do {
    busy.set(name, false)
    await Promise.all([queryClient.invalidateQueries({ queryKey: key }), refreshLists(key)]).catch(
      () => undefined,
    )
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  } while (busy.get(name))
  busy.delete(name)
}

/** After a gap: nothing that was read can be trusted. */
export function refreshAll(): void {
  void queryClient.invalidateQueries()
  void refreshLists([])
}
