// A paged list in a component. Lists are kept for a while after their component is removed, so that going back shows them at once.

import { useEffect, useMemo } from 'preact/hooks'
import { type ListSource, type ListState, PagedList } from './paged-list.ts'
import { startsWith } from './query-key.ts'

const keptLists = 20
const lists = new Map<string, PagedList<unknown>>()
const shown = new Map<PagedList<unknown>, number>()

export type OpenList<T> = ListState<T> & { list: PagedList<T> }

export function useList<T>(source: ListSource<T>): OpenList<T> {
  const name = JSON.stringify(source.key)
  // The key contains everything the source depends on.
  const list = useMemo(() => openList(name, source), [name])
  useEffect(() => {
    const any = list as PagedList<unknown>
    shown.set(any, (shown.get(any) ?? 0) + 1)
    void list.refresh()
    return () => {
      const count = (shown.get(any) ?? 1) - 1
      if (count > 0) shown.set(any, count)
      else shown.delete(any)
    }
  }, [list])
  return { ...list.state.value, list }
}

/** Keys of the lists on the screen. */
export function shownListKeys(): (readonly unknown[])[] {
  return [...shown.keys()].map(({ source }) => source.key)
}

/** Reloads lists on the screen at once, others when they are shown again. */
export async function refreshLists(prefix: readonly unknown[]): Promise<void> {
  const concerned = [...shown.keys()].filter(({ source }) => startsWith(source.key, prefix))
  await Promise.all(concerned.map((list) => list.refresh()))
}

/** Removes a deleted row from every list whose key has the prefix. */
export function removeRow(prefix: readonly unknown[], id: string | number): void {
  for (const list of lists.values()) if (startsWith(list.source.key, prefix)) list.remove(id)
}

/** Clears all lists for another session. */
export function clearLists(): void {
  for (const list of lists.values()) list.close()
  lists.clear()
  shown.clear()
}

function openList<T>(name: string, source: ListSource<T>): PagedList<T> {
  const known = lists.get(name) as PagedList<T> | undefined
  const list = known ?? new PagedList(source)
  lists.delete(name)
  lists.set(name, list as PagedList<unknown>)
  for (const oldest of lists.keys()) {
    if (lists.size <= keptLists) break
    lists.delete(oldest)
  }
  return list
}
