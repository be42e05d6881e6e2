// The command palette: one search over everything, by keyboard. A combobox in a dialog.

import './palette.css'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { savedViews } from '../parts/saved-views.tsx'
import { useSettled } from '../parts/use-settled.ts'
import { navigate } from '../router.ts'
import { routes } from '../routes.ts'
import { useScopes } from '../scopes.ts'
import { beginningWith } from '../selector/selector-text.ts'
import type { PaletteItem } from './palette-item.ts'
import { findItems } from './palette-items.ts'
import { readNamed } from './read-named.ts'

const devicesAtMost = 10

export default function Palette({ onClose }: { onClose: () => void }) {
  const { can, mayOpen } = useScopes()
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const field = useRef<HTMLInputElement>(null)
  // The browser would focus the first element of the dialog, the close button.
  useEffect(() => field.current?.focus(), [])
  const sources = useSources(text)
  const views = savedViews.value
  const items = useMemo(
    () => findItems(text, { ...sources, routes: routes.filter(mayOpen), views, can }),
    [text, views, ...Object.values(sources)],
  )
  const action = useAction(async ({ work, href }: PaletteItem) => {
    await work?.()
    onClose()
    navigate(href)
  })
  const open = (item: PaletteItem | undefined) => {
    if (item && !action.isRunning) void action.run(item)
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
        type="text" // not search, where Escape clears the text before it closes the dialog
        role="combobox"
        aria-label="Search everything"
        aria-expanded={items.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={items.length > 0 ? `${listId}-${active}` : undefined}
        placeholder="Name, number, selector or action"
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
            key={`${item.name} ${item.href}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onClick={() => open(item)}
            onKeyDown={() => undefined} // the field has the focus and handles keys
            ref={(element) => {
              if (index === active) element?.scrollIntoView({ block: 'nearest' })
            }}
          >
            <span>
              <bdi>{item.name}</bdi>
              {item.about && <bdi class="quiet"> {item.about}</bdi>}
            </span>
            <span class="quiet">{item.kind}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p class="quiet">Nothing matches.</p>}
      <ErrorNote error={action.error} />
    </Dialog>
  )
}

/** The searched items: jobs and names are read at once, devices are searched by the server while the user types. */
function useSources(text: string) {
  const { can, isRestricted } = useScopes()
  const isAsked = can('READ') && text.trim() !== ''
  const settled = useSettled(text.trim())
  const where = spellings(settled)
    .map((each) => beginningWith(each, ['deviceId', 'deviceName']))
    .join(' or ')
  const jobs = useQuery({ ...queries.allJobs(), enabled: can('READ') })
  const devices = useQuery({ ...queries.fleetDevices(), enabled: isAsked })
  const found = useQuery({
    queryKey: ['devices', 'named', settled],
    queryFn: async (options) =>
      (await jobcast.devices.list({ where, limit: devicesAtMost }, options).page()).items,
    enabled: isAsked && settled !== '',
  })
  const named = useQuery({
    queryKey: ['named', isRestricted],
    queryFn: (options) => readNamed(isRestricted, options),
    enabled: isAsked,
    staleTime: 0,
  })
  return {
    jobs: jobs.data ?? noItems,
    devices: devices.data?.items ?? noItems,
    found: found.data ?? noItems,
    named: named.data,
  }
}

/** The search of the server is case-sensitive, so it gets several spellings. */
function spellings(text: string): string[] {
  const capitalized = text.replaceAll(/(^|\s)\p{L}/gu, (start) => start.toUpperCase())
  return [...new Set([text, text.toLowerCase(), text.toUpperCase(), capitalized])]
}

const noItems: never[] = []
