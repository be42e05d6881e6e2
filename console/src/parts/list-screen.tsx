// A screen with one list: title, buttons, results of actions, filters, and the table.

import type { ComponentChildren } from 'preact'
import type { Route } from '../route.ts'
import { PageHeader } from './page-header.tsx'
import { PagedTable, type PagedTableProps } from './paged-table.tsx'

type Props<T> = Omit<PagedTableProps<T>, 'label'> & {
  route: Route
  /** Buttons and links next to the title. */
  actions?: ComponentChildren
  /** Shown between title and filters, for example a created item. */
  notice?: ComponentChildren
  filters?: ComponentChildren
  /** Dialogs. */
  children?: ComponentChildren
}

export function ListScreen<T>({ route, actions, notice, filters, children, ...table }: Props<T>) {
  return (
    <>
      <PageHeader title={route.title}>{actions}</PageHeader>
      {notice}
      {filters}
      <PagedTable {...table} label={route.title} />
      {children}
    </>
  )
}
