// Selects devices by search, by tag, or by pasting. Each adds to the selection.

import { useMemo, useRef, useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useAction } from '../../api/use-action.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { Field, TextField } from '../../parts/field.tsx'
import { Presence } from '../../parts/presence.tsx'
import { SelectorField } from '../../selector/selector-field.tsx'
import { quote } from '../../selector/selector-text.ts'
import { type Directory, isBusy } from './directory.ts'
import { listedAtMost } from './listed-at-most.ts'
import { parsePasted, sortPasted } from './parse-pasted.ts'
import { readTagged } from './read-tagged.ts'

type PickerProps = {
  directory: Directory
  selected: ReadonlySet<string>
  /** `tag`: the devices are exactly those with this tag. */
  onAdd: (deviceIds: string[], tag?: string) => void
  onRemove: (deviceId: string) => void
  /** The typed selector; null if devices are selected one by one. */
  where: string | null
  onWhere: (text: string | undefined) => void
}

const ways = ['Search', 'Tag', 'Paste', 'Selector'] as const
type Way = (typeof ways)[number]

export function DevicePicker({ canRead, ...props }: PickerProps & { canRead: boolean }) {
  const [way, setWay] = useState<Way>(props.where !== null ? 'Selector' : canRead ? 'Search' : 'Paste')
  return (
    <div class="device-picker">
      {canRead && (
        <fieldset class="ways">
          <legend class="hidden">How to choose devices</legend>
          {ways.map((name) => (
            <label key={name}>
              <input type="radio" name="way" checked={way === name} onChange={() => setWay(name)} />
              {name}
            </label>
          ))}
        </fieldset>
      )}
      {way === 'Search' && <BySearch {...props} />}
      {way === 'Tag' && <ByTag {...props} />}
      {way === 'Selector' && (
        <SelectorField label="Selector" text={props.where ?? ''} onInput={props.onWhere} />
      )}
      {way === 'Paste' && <ByPaste {...props} canRead={canRead} />}
    </div>
  )
}

/** A narrower search finds further devices. */
const shownAtMost = 100

function BySearch({ directory: { devices }, selected, onAdd, onRemove, onWhere }: PickerProps) {
  const [text, setText] = useState('')
  const search = useRef<HTMLDivElement>(null)
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    return devices.filter(({ deviceId }) => words.every((word) => deviceId.toLowerCase().includes(word)))
  }, [devices, text])
  const missing = found.filter(({ deviceId }) => !selected.has(deviceId)).length
  return (
    <>
      <div class="with-button" ref={search}>
        <TextField
          label="Search devices"
          type="search"
          value={text}
          onInput={setText}
          placeholder="Any part of the ID"
        />
        <button
          type="button"
          disabled={missing === 0}
          onClick={() => {
            // More than can be listed: the server selects them.
            if (text === '' && found.length > listedAtMost) return onWhere('all')
            onAdd(found.map(({ deviceId }) => deviceId))
            search.current?.querySelector('input')?.focus() // the button is now disabled, and would lose the focus
          }}
        >
          Add {missing === 0 ? 'all' : `all ${formatCount(missing)}`}
        </button>
      </div>
      <ul class="found" aria-label="Devices found">
        {found.slice(0, shownAtMost).map((device) => (
          <li key={device.deviceId}>
            <label>
              <input
                type="checkbox"
                checked={selected.has(device.deviceId)}
                onChange={(event) =>
                  event.currentTarget.checked ? onAdd([device.deviceId]) : onRemove(device.deviceId)
                }
              />
              <span class="name">{device.deviceId}</span>
              {isBusy(device) && <span class="busy">busy</span>}
              <Presence online={device.online} />
            </label>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {found.length === 0 && 'No devices match.'}
        {found.length > shownAtMost &&
          `The first ${shownAtMost} of ${formatCount(found.length)}. “Add all” adds every one.`}
      </p>
    </>
  )
}

function ByTag({ onAdd, onWhere }: PickerProps) {
  const [tag, setTag] = useState('')
  const [said, setSaid] = useState('')
  const { data } = useQuery(queries.firstDevices())
  const known = [...new Set(data?.items.flatMap(({ tags }) => tags))].sort().slice(0, 24)
  const add = useAction(async (wanted: string) => {
    const deviceIds = await readTagged(wanted, undefined, (count) =>
      setSaid(`${formatCount(count)} so far …`),
    )
    setSaid(
      deviceIds.length === 0
        ? `No devices have the tag ${wanted}.`
        : `Added ${formatCount(deviceIds.length)} with the tag ${wanted}.`,
    )
    // More than can be listed: the server selects them.
    if (deviceIds.length > listedAtMost) onWhere(`tag=${quote(wanted)}`)
    else onAdd(deviceIds, wanted)
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void add.run(tag.trim())
      }}
    >
      <div class="with-button">
        <TextField label="Tag" type="search" value={tag} onInput={setTag} />
        <button type="submit" disabled={tag.trim() === '' || add.isRunning}>
          Add
        </button>
      </div>
      <div class="known-tags">
        {known.map((name) => (
          <button key={name} type="button" class="tag" disabled={add.isRunning} onClick={() => add.run(name)}>
            + {name}
          </button>
        ))}
      </div>
      <p class="quiet" role="status">
        {said}
      </p>
      <ErrorNote error={add.error} />
    </form>
  )
}

/** Maximum number of unknown names to show. */
const namedAtMost = 20

function ByPaste({ directory, onAdd, canRead }: PickerProps & { canRead: boolean }) {
  const [text, setText] = useState('')
  // Without permission to read devices, unknown ones are reported by the trigger.
  const isKnown = (deviceId: string) => !canRead || directory.byId.has(deviceId)
  const { known, unknown } =
    directory.isRead || !canRead ? sortPasted(text, isKnown) : { known: parsePasted(text), unknown: [] }
  return (
    <>
      <Field label="Paste devices" hint="One per line or comma-separated.">
        {(control) => (
          <textarea
            {...control}
            class="mono"
            rows={6}
            value={text}
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="pasted">
        <button
          type="button"
          disabled={known.length === 0}
          onClick={() => {
            onAdd(known)
            setText(unknown.join('\n'))
          }}
        >
          Add {known.length > 0 ? formatCount(known.length) : ''} {known.length === 1 ? 'device' : 'devices'}
        </button>
        <p role="status" class={unknown.length > 0 ? 'field-error' : 'quiet'}>
          {unknown.length > 0 &&
            `${formatCount(unknown.length)} unknown: ${unknown.slice(0, namedAtMost).join(', ')}${unknown.length > namedAtMost ? ' …' : ''}`}
        </p>
      </div>
    </>
  )
}
