// The command palette: one search over everything, by keyboard. A combobox in a dialog.

import './palette.css'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { Dialog } from '../parts/dialog.tsx'
import { savedViews } from '../parts/saved-views.tsx'
import { navigate } from '../router.ts'
import { routes } from '../routes.ts'
import { useScopes } from '../scopes.ts'
import { findItems, type PaletteItem } from './palette-items.ts'

export default function Palette({ onClose }: { onClose: () => void }) {
  const { can } = useScopes()
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const field = useRef<HTMLInputElement>(null)
  // The browser gives the focus to the first thing in a dialog, which is how to close it.
  useEffect(() => field.current?.focus(), [])
  const jobs = useQuery({ ...queries.allJobs(), enabled: can('READ') })
  const devices = useQuery({ ...queries.fleetDevices(), enabled: can('READ') })
  const items = useMemo(
    () =>
      findItems(text, {
        routes,
        jobs: jobs.data ?? [],
        devices: devices.data?.items ?? [],
        views: savedViews.value,
        can,
      }),
    [text, jobs.data, devices.data, savedViews.value],
  )
  const open = (item: PaletteItem | undefined) => {
    if (!item) return
    onClose()
    navigate(item.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 && event.key !== 'Enter') return
    event.preventDefault()
    if (step === 0) open(items[active])
    else setActive((active + step + items.length) % Math.max(1, items.length))
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text" // not search: there Escape clears the text before it closes the dialog
        role="combobox"
        aria-label="Search everything"
        aria-expanded={items.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={items.length > 0 ? `${listId}-${active}` : undefined}
        placeholder="Screen, job, device, or number of a run or execution"
        autoComplete="off"
        spellcheck={false}
        value={text}
        ref={field}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label="Results" class="palette-items">
        {items.map((item, index) => (
          <div
            key={item.href}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onClick={() => open(item)}
            onKeyDown={() => undefined} // the field has the focus
            ref={(element) => {
              if (index === active) element?.scrollIntoView({ block: 'nearest' })
            }}
          >
            <bdi>{item.name}</bdi>
            <span class="quiet">{item.kind}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p class="quiet">Nothing matches.</p>}
    </Dialog>
  )
}
