// A table that draws only the rows in sight, so a hundred thousand scroll as smoothly as ten. It asks for more when the
// end comes near. Arrow keys move from row to row, Enter opens.

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { useKeptScroll } from '../kept-scroll.ts'
import { navigate } from '../router.ts'

export type Column<T> = {
  name: string
  title: ComponentChildren
  /** A width of CSS grid, as `2fr` or `120px`. */
  width: string
  cell: (row: T) => ComponentChildren
  /** Left out where the window is narrow. */
  isMinor?: boolean
  align?: 'end'
}

type Props<T> = {
  label: string
  columns: Column<T>[]
  rows: T[]
  idOf: (row: T) => string | number
  /** Where a row leads. The first column should show a link to it. */
  hrefOf?: (row: T) => string
  hasMore?: boolean
  onEndNear?: () => void
  isLoading?: boolean
}

const rowHeight = 40
const rowsAhead = 6
/** So many rows before the end the next ones are asked for. */
const endIsNear = 60

export function DataTable<T>(props: Props<T>) {
  const { label, columns, rows, idOf, hasMore = false, onEndNear, isLoading = false } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer(rows.length, scroller)
  useKeptScroll(scroller, label)
  const [active, setActive] = useState(0)
  const items = virtualizer.getVirtualItems()
  const lastInSight = items.at(-1)?.index ?? 0
  // After Back the table is scrolled, and the row that was active may not be drawn.
  const isDrawn = items.some(({ index }) => index === active)
  const reachable = isDrawn ? active : items[Math.floor(items.length / 2)]?.index
  useEffect(() => {
    if (hasMore && !isLoading && lastInSight >= rows.length - endIsNear) onEndNear?.()
  }, [hasMore, isLoading, lastInSight, rows.length, onEndNear])

  const move = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to))
    setActive(index)
    virtualizer.scrollToIndex(index)
    // It may have to be drawn first.
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[aria-rowindex="${index + 2}"]`)?.focus(),
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, items.length - 2 * rowsAhead)
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    }
    const to = steps[event.key]
    if (to !== undefined) {
      event.preventDefault()
      move(to)
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
    // biome-ignore lint/a11y/noStaticElementInteractions: the rows in it are what is pressed
    <div class="data-table" ref={scroller} onKeyDown={onKeyDown}>
      {/* A grid of divs with the roles of a table: rows of a real one cannot be placed one by one. */}
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
              <div role="columnheader" key={column.name} class={cellClass(column)}>
                {column.title}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="data-table-body" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {items.map((item) => {
            const row = rows[item.index] as T
            return (
              <Row
                key={idOf(row)}
                row={row}
                item={item}
                columns={columns}
                isActive={item.index === reachable}
                href={props.hrefOf?.(row)}
                onFocus={() => setActive(item.index)}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

type RowProps<T> = {
  row: T
  item: VirtualItem
  columns: Column<T>[]
  isActive: boolean
  /** Where it leads, wherever in the row one clicks. */
  href: string | undefined
  onFocus: () => void
}

function Row<T>({ row, item, columns, isActive, href, onFocus }: RowProps<T>) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a row is heard by the table
    <div
      role="row"
      class={href === undefined ? '' : 'leads-on'}
      aria-rowindex={item.index + 2}
      tabIndex={isActive ? 0 : -1}
      onFocus={onFocus}
      onClick={(event) => href !== undefined && openRow(event, href)}
      style={{
        height: `${rowHeight}px`,
        transform: `translateY(${item.start}px)`,
      }}
    >
      {columns.map((column) => (
        <div role="cell" key={column.name} class={cellClass(column)}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  )
}

/** What is in a row has its own purpose, and so has a text that somebody selects. */
function openRow(event: MouseEvent, href: string): void {
  const isOwn = (event.target as Element).closest('a, button, input, label, dialog') !== null
  if (isOwn || event.defaultPrevented || getSelection()?.isCollapsed === false) return
  if (event.ctrlKey || event.metaKey) window.open(href, '_blank', 'noopener')
  else navigate(href)
}

function cellClass<T>({ align, isMinor }: Column<T>): string {
  return `${align === 'end' ? 'end' : ''} ${isMinor ? 'minor' : ''}`
}

function useVirtualizer(count: number, scroller: { current: HTMLDivElement | null }) {
  const [, draw] = useReducer((drawn: number, _: unknown) => drawn + 1, 0)
  const [virtualizer] = useState(
    () => new Virtualizer<HTMLDivElement, Element>(optionsOf(count, scroller, draw)),
  )
  virtualizer.setOptions(optionsOf(count, scroller, draw))
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}

function optionsOf(count: number, scroller: { current: HTMLDivElement | null }, draw: (_: unknown) => void) {
  return {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: rowsAhead,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  }
}
