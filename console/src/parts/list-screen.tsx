// A screen that is one list: its title and buttons, what came of them, filters, the table.

import type { ComponentChildren } from 'preact'
import type { Route } from '../route.ts'
import { PageHeader } from './page-header.tsx'
import { PagedTable, type PagedTableProps } from './paged-table.tsx'

type Props<T> = Omit<PagedTableProps<T>, 'label'> & {
  route: Route
  /** Buttons and links beside the title. */
  actions?: ComponentChildren
  /** Between title and filters: what was just made. */
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
