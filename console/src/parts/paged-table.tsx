// A table of a list that is read page by page: its error, its empty state, its rows.

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { OpenList } from '../api/use-list.ts'
import { type Column, DataTable } from './data-table.tsx'
import { ErrorNote } from './error-note.tsx'
import { sortNext, sortOf, sortRows } from './sorted-rows.ts'

export type PagedTableProps<T> = {
  label: string
  list: OpenList<T>
  /** The rows to show; default: all. */
  rows?: T[]
  columns: Column<T>[]
  /** The target of a row. */
  hrefOf?: (row: T) => string
  /** Shown when everything is read and there are no rows. */
  empty: ComponentChildren
}

export function PagedTable<T>({ label, list, rows = list.rows, columns, hrefOf, empty }: PagedTableProps<T>) {
  const isWhole = list.nextCursor === null
  const sort = isWhole ? sortOf(columns) : undefined
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort?.name, sort?.isDescending])
  return (
    <>
      <ErrorNote error={list.error} onRetry={() => void list.list.refresh()} />
      {isEmptyList(list, rows) && empty}
      {rows.length > 0 && (
        <DataTable
          label={label}
          columns={columns}
          rows={sorted}
          sort={sort}
          onSort={isWhole ? (name) => sortNext(name, sort) : undefined}
          idOf={list.list.source.idOf}
          {...(hrefOf && { hrefOf })}
          hasMore={list.nextCursor !== null}
          isLoading={list.isLoading}
          onEndNear={() => void list.list.loadMore()}
        />
      )}
    </>
  )
}

export function isEmptyList<T>(list: OpenList<T>, rows = list.rows): boolean {
  return rows.length === 0 && list.nextCursor === null
}
