// A paged list in a component. Lists outlive their component for a while, so that the way back shows them at once.

import { useEffect, useMemo } from 'preact/hooks'
import { type ListSource, type ListState, PagedList } from './paged-list.ts'

const remembered = 20
const lists = new Map<string, PagedList<unknown>>()
const shown = new Map<PagedList<unknown>, number>()

export function useList<T>(source: ListSource<T>): ListState<T> & { list: PagedList<T> } {
  const name = JSON.stringify(source.key)
  // The key says all that a source depends on.
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

/** Of the lists on the screen. */
export function shownListKeys(): (readonly unknown[])[] {
  return [...shown.keys()].map(({ source }) => source.key)
}

/** Those on the screen are read anew at once, the others when they are shown again. */
export async function refreshLists(prefix: readonly unknown[]): Promise<void> {
  const concerned = [...shown.keys()].filter(({ source }) => startsWith(source.key, prefix))
  await Promise.all(concerned.map((list) => list.refresh()))
}

/** Takes a row that is gone out of every list that begins so. */
export function forgetRow(prefix: readonly unknown[], id: string | number): void {
  for (const list of lists.values()) if (startsWith(list.source.key, prefix)) list.remove(id)
}

/** Whatever was read is another's now. */
export function forgetLists(): void {
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
    if (lists.size <= remembered) break
    lists.delete(oldest)
  }
  return list
}

function startsWith(key: readonly unknown[], prefix: readonly unknown[]): boolean {
  return prefix.every((part, index) => JSON.stringify(part) === JSON.stringify(key[index]))
}
