// A table that draws only visible rows, so a hundred thousand rows scroll as smoothly as ten. It loads more rows near the end.
// Arrow keys move from row to row, Enter opens a row.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeptScroll } from '../kept-scroll.ts'
import { navigate } from '../router.ts'
import { Icon } from './icon.tsx'
import { isNarrow } from './is-narrow.ts'
import type { Sort } from './sorted-rows.ts'
import { rowHeight, rowsAhead, scrollToRow, useVisibleRows } from './visible-rows.ts'

export type Column<T> = {
  name: string
  title: ComponentChildren
  /** A width of CSS grid, such as `2fr` or `120px`. */
  width: string
  cell: (row: T) => ComponentChildren
  /** A second, smaller line in a narrow window: what its omitted columns say. */
  under?: (row: T) => ComponentChildren
  /** Omitted in a narrow window. */
  isMinor?: boolean
  align?: 'end'
  /** The value for sorting by this column. */
  sortBy?: (row: T) => string | number | null
}

type Props<T> = {
  label: string
  columns: Column<T>[]
  rows: T[]
  idOf: (row: T) => string | number
  /** The target of a row. The first column should show a link to it. */
  hrefOf?: (row: T) => string
  hasMore?: boolean
  onEndNear?: () => void
  isLoading?: boolean
  sort?: Sort | undefined
  /** Undefined if the order cannot be changed. */
  onSort?: ((name: string) => void) | undefined
}

/** The next rows are loaded this many rows before the end. */
const endIsNear = 60

export function DataTable<T>(props: Props<T>) {
  const { label, columns, rows, idOf, hasMore = false, onEndNear, isLoading = false } = props
  const scroller = useRef<HTMLDivElement>(null)
  useKeptScroll(scroller, label)
  const { from, to } = useVisibleRows(rows.length, scroller)
  const [active, setActive] = useState(0)
  // After Back the table is scrolled, and the active row may not be drawn.
  const isDrawn = active >= from && active < to
  const reachable = isDrawn ? active : Math.floor((from + to) / 2)
  useEffect(() => {
    if (hasMore && !isLoading && to > rows.length - endIsNear) onEndNear?.()
  }, [hasMore, isLoading, to, rows.length, onEndNear])

  const move = (wanted: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, wanted))
    setActive(index)
    scrollToRow(index, scroller.current)
    // The row may have to be drawn first.
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[aria-rowindex="${index + 2}"]`)?.focus(),
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, to - from - 2 * rowsAhead)
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    }
    const wanted = steps[event.key]
    if (wanted !== undefined) {
      event.preventDefault()
      move(wanted)
    }
    const row = rows[active]
    const isOnRow = (event.target as Element).getAttribute('role') === 'row'
    if (event.key === 'Enter' && isOnRow && row && props.hrefOf) navigate(props.hrefOf(row))
  }
  const widths = {
    '--columns': columns.map(({ width }) => width).join(' '),
    '--columns-narrow': columns
      .filter(({ isMinor }) => !isMinor)
      .map(({ width }) => width)
      .join(' '),
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its rows are interactive
    <div class="data-table" ref={scroller} onKeyDown={onKeyDown}>
      {/* A grid of divs with the roles of a table, because rows of a table element cannot be positioned individually. */}
      <div
        role="table"
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        aria-busy={isLoading}
        style={widths}
      >
        <div role="rowgroup" class="data-table-head">
          <div role="row" aria-rowindex={1}>
            {columns.map((column) => (
              <Heading key={column.name} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="data-table-body" style={{ height: `${rows.length * rowHeight}px` }}>
          {rows.slice(from, to).map((row, place) => (
            <Row
              key={idOf(row)}
              row={row}
              index={from + place}
              columns={columns}
              isActive={from + place === reachable}
              href={props.hrefOf?.(row)}
              onFocus={() => setActive(from + place)}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

type HeadingProps<T> = { column: Column<T> } & Pick<Props<T>, 'sort' | 'onSort'>

function Heading<T>({ column, sort, onSort }: HeadingProps<T>) {
  const { name, title, sortBy } = column
  const isSorted = sort?.name === name
  return (
    <div
      role="columnheader"
      class={cellClass(column)}
      aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : undefined}
    >
      {sortBy && onSort ? (
        <button type="button" class="sort" onClick={() => onSort(name)}>
          {title}
          {isSorted && <Icon name={sort.isDescending ? 'down' : 'up'} />}
        </button>
      ) : (
        title
      )}
    </div>
  )
}

type RowProps<T> = {
  row: T
  index: number
  columns: Column<T>[]
  isActive: boolean
  /** The target of a click anywhere in the row. */
  href: string | undefined
  onFocus: () => void
}

function Row<T>({ row, index, columns, isActive, href, onFocus }: RowProps<T>) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the table handles Enter on a row
    <div
      role="row"
      class={href === undefined ? '' : 'leads-on'}
      aria-rowindex={index + 2}
      tabIndex={isActive ? 0 : -1}
      onFocus={onFocus}
      onClick={(event) => href !== undefined && openRow(event, href)}
      style={{
        height: `${rowHeight}px`,
        transform: `translateY(${index * rowHeight}px)`,
      }}
    >
      {columns.map((column) => (
        <div role="cell" key={column.name} class={cellClass(column)}>
          {column.cell(row)}
          {column.under && isNarrow.value && <div class="under">{column.under(row)}</div>}
        </div>
      ))}
    </div>
  )
}

/** Ignores clicks on links and controls in the row, and text selections. */
function openRow(event: MouseEvent, href: string): void {
  const isOwn = (event.target as Element).closest('a, button, input, label, dialog') !== null
  if (isOwn || event.defaultPrevented || getSelection()?.isCollapsed === false) return
  if (event.ctrlKey || event.metaKey) window.open(href, '_blank', 'noopener')
  else navigate(href)
}

function cellClass<T>({ align, isMinor }: Column<T>): string {
  return `${align === 'end' ? 'end' : ''} ${isMinor ? 'minor' : ''}`
}
