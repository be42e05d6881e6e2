// Reloads data that events have invalidated: at once, then at a limited rate. So ten thousand events per second cause as many
// requests as two.

import { queryCache } from '../api/query-cache.ts'
import { type QueryKey, startsWith } from '../api/query-key.ts'
import { refreshLists, shownListKeys } from '../api/use-list.ts'
import type { Key } from './affected-keys.ts'
import { readBudget } from './read-budget.ts'

const pauseMs = 250

const touched = new Map<string, Key>()
let isReading = false

/** Ignores keys that were never read: of ten thousand changing executions, few are on the screen. */
export function refresh(keys: Iterable<Key>): void {
  const read = readKeys()
  for (const key of keys) {
    const name = nameOf(key)
    if (read.has(name)) touched.set(name, key)
  }
  if (touched.size > 0 && !isReading) void keepReading()
}

/** All keys that `affectedKeys` could return: the first one or two parts of the keys that were read. */
function readKeys(): Set<string> {
  const keys = [...queryCache.keys(), ...shownListKeys()]
  return new Set(keys.flatMap((key) => [nameOf(key.slice(0, 1)), nameOf(key.slice(0, 2))]))
}

/** Called thousands of times a second. No name contains a control character. */
function nameOf(key: readonly unknown[]): string {
  return key.map((part) => (typeof part === 'object' ? JSON.stringify(part) : part)).join('\n')
}

async function keepReading(): Promise<void> {
  isReading = true
  while (touched.size > 0) {
    const keys = [...touched.values()]
    touched.clear()
    readBudget.spend(requestsFor(keys))
    await Promise.all(
      keys.flatMap((queryKey) => [queryCache.invalidate(queryKey), refreshLists(queryKey)]),
    ).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, readBudget.waitMs())))
  }
  isReading = false
}

function requestsFor(keys: Key[]): number {
  const isNamed = (read: QueryKey) => keys.some((key) => startsWith(read, key))
  return [...queryCache.shownKeys(), ...shownListKeys()].filter(isNamed).length
}

/** Called after a gap, when all data may be outdated. */
export function refreshAll(): void {
  void queryCache.invalidate([])
  void refreshLists([])
}
