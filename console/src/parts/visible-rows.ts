// Computes the visible rows of a table. All rows have the same height, so a division is sufficient.

import { useLayoutEffect, useState } from 'preact/hooks'

export const rowHeight = 40
const headHeight = 37
/** Additional rows drawn beyond the visible ones, so that scrolling shows them immediately. */
export const rowsAhead = 6

type Scroller = { current: HTMLElement | null }

/** `to` is exclusive. */
export function useVisibleRows(count: number, scroller: Scroller): { from: number; to: number } {
  const [sight, setSight] = useState({ first: 0, last: 0 })
  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return
    const look = () => {
      const first = Math.floor(box.scrollTop / rowHeight)
      const last = Math.ceil((box.scrollTop + box.clientHeight) / rowHeight)
      setSight((before) => (before.first === first && before.last === last ? before : { first, last }))
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [])
  const to = Math.min(count, sight.last + rowsAhead)
  return { from: Math.max(0, Math.min(sight.first - rowsAhead, to - 1)), to }
}

/** Scrolls no farther than needed. The header remains above the rows. */
export function scrollToRow(index: number, box: HTMLElement | null): void {
  if (!box) return
  const top = index * rowHeight
  const end = top + headHeight + rowHeight - box.clientHeight
  if (top < box.scrollTop) box.scrollTo({ top })
  else if (end > box.scrollTop) box.scrollTo({ top: end })
}
