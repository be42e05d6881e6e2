// The cache of API responses, by key. Events invalidate it (live/).

import { Query, type QueryOptions } from './query.ts'
import { type QueryKey, startsWith } from './query-key.ts'

/** How long responses that no component shows are kept, for going back. */
const keptMs = 5 * 60_000

const cached = new Map<string, Query<unknown>>()

export const queryCache = {
  /** The query with this key, for a component that shows it. */
  open<T>(options: QueryOptions<T>): Query<T> {
    const query = find<T>(options.queryKey)
    query.use(options)
    return query
  },

  get<T>(key: QueryKey): T | undefined {
    return cached.get(JSON.stringify(key))?.data as T | undefined
  },

  /** What is set and never read, such as a draft, is kept until the session ends. */
  set<T>(key: QueryKey, data: T): void {
    find<T>(key).set(data)
  },

  /** Changes data that has been read. */
  patch<T>(key: QueryKey, change: (data: T) => T): void {
    const query = cached.get(JSON.stringify(key)) as Query<T> | undefined
    if (query?.data !== undefined) query.set(change(query.data))
  },

  remove(key: QueryKey): void {
    cached.delete(JSON.stringify(key))
  },

  /** A read that is in progress may return what was there before a change. */
  cancel(key: QueryKey): void {
    cached.get(JSON.stringify(key))?.cancel()
  },

  /** Reads what is shown again, the rest when it is shown. Resolves when it is read. */
  async invalidate(prefix: QueryKey): Promise<void> {
    const concerned = [...cached.values()].filter(({ key }) => startsWith(key, prefix))
    await Promise.all(concerned.map((query) => query.invalidate()))
  },

  readStale(): void {
    for (const query of cached.values()) if (query.isActive) query.readIfStale()
  },

  keys(): QueryKey[] {
    return [...cached.values()].map(({ key }) => key)
  },

  shownKeys(): QueryKey[] {
    return [...cached.values()].filter(({ isActive }) => isActive).map(({ key }) => key)
  },

  clear(): void {
    for (const query of cached.values()) query.cancel()
    cached.clear()
  },
}

function find<T>(key: QueryKey): Query<T> {
  const name = JSON.stringify(key)
  const known = cached.get(name)
  if (known) return known as Query<T>
  const query: Query<T> = new Query<T>(key, () => removeLater(name, query as Query<unknown>))
  cached.set(name, query as Query<unknown>)
  removeLater(name, query as Query<unknown>)
  return query
}

function removeLater(name: string, query: Query<unknown>): void {
  setTimeout(() => {
    const isUnused = !query.isWatched && query.isReadable
    if (isUnused && cached.get(name) === query) cached.delete(name)
  }, keptMs)
}
