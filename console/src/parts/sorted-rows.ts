// Sorts rows by a column. The API has one order per list, so this is only for lists that are read completely.

import { search, setSearch } from '../router.ts'
import { naturally } from './natural-order.ts'

/** A column; without `sortBy` it cannot be sorted. */
type Sortable<T> = { name: string; sortBy?: (row: T) => string | number | null }

/** `?sort=name`, `?sort=-name` for descending. */
export type Sort = { name: string; isDescending: boolean }

export function sortOf<T>(columns: readonly Sortable<T>[]): Sort | undefined {
  const text = search.value.get('sort') ?? ''
  const name = text.replace(/^-/, '')
  const isKnown = columns.some((column) => column.sortBy && column.name === name)
  return isKnown ? { name, isDescending: text.startsWith('-') } : undefined
}

/** Cycles through ascending, descending and the original order. */
export function sortNext(name: string, now: Sort | undefined): void {
  const next = now?.name !== name ? name : now.isDescending ? undefined : `-${name}`
  setSearch({ sort: next })
}

export function sortRows<T>(rows: T[], columns: readonly Sortable<T>[], sort: Sort | undefined): T[] {
  const sortBy = columns.find(({ name }) => name === sort?.name)?.sortBy
  if (!sort || !sortBy) return rows
  const sorted = naturally(rows, (row) => String(sortBy(row) ?? ''))
  return sort.isDescending ? sorted.reverse() : sorted
}
