// Opens a device: any part of its id is sufficient if the fleet is not larger than its map.

import { useMemo, useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { Field } from '../../parts/field.tsx'
import { navigate } from '../../router.ts'

const suggestedAtMost = 12

export function FindDevice() {
  const [text, setText] = useState('')
  // Loaded on the first search, because it can be a megabyte.
  const [isWanted, setWanted] = useState(false)
  const { data } = useQuery({ ...queries.fleetDevices(), enabled: isWanted })
  const wanted = text.trim()
  const found = useMemo(
    () => findIds(data?.items.map(({ deviceId }) => deviceId) ?? [], wanted),
    [data, wanted],
  )
  return (
    <search>
      <form
        class="find-device"
        onSubmit={(event) => {
          event.preventDefault()
          if (wanted !== '') navigate(`/devices/${encodeURIComponent(found[0] ?? wanted)}`)
        }}
      >
        <Field label="Go to device">
          {(control) => (
            <>
              <input
                {...control}
                type="search"
                list={`${control.id}-ids`}
                placeholder="Part of the ID"
                value={text}
                autoComplete="off"
                spellcheck={false}
                onFocus={() => setWanted(true)}
                onInput={(event) => setText(event.currentTarget.value)}
              />
              <datalist id={`${control.id}-ids`}>
                {found.map((deviceId) => (
                  <option key={deviceId} value={deviceId} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <button type="submit">Go</button>
      </form>
    </search>
  )
}

/** Exact matches first, then prefixes, then other matches. */
function findIds(ids: readonly string[], wanted: string): string[] {
  if (wanted === '') return []
  const lower = wanted.toLowerCase()
  const rank = (id: string) => (id === wanted ? 0 : id.toLowerCase().startsWith(lower) ? 1 : 2)
  return ids
    .filter((id) => id.toLowerCase().includes(lower))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .slice(0, suggestedAtMost)
}
