// Filters of lists: by a name, and by instants.

import { useEffect, useId, useState } from 'preact/hooks'
import { Field, TextField } from '../../parts/field.tsx'
import { localTime, utcTime } from '../../parts/local-time.ts'
import { search, setSearch } from '../../router.ts'

type NameProps = {
  label: string
  value: string
  known?: readonly string[]
  inputMode?: 'text' | 'numeric'
  onChange: (value: string) => void
}

/**
 * The API matches complete names only, so it applies with Enter, when the field loses the focus, or at once when the text is an
 * existing name.
 */
export function NameFilter({ label, value, known = [], inputMode = 'text', onChange }: NameProps) {
  const [text, setText] = useState(value)
  const listId = useId()
  useEffect(() => setText(value), [value]) // going back changes the address
  const take = (typed: string) => typed.trim() !== value && onChange(typed.trim())
  return (
    <Field label={label}>
      {(control) => (
        <>
          <input
            {...control}
            type="search"
            inputMode={inputMode}
            list={listId}
            autoComplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => {
              const typed = event.currentTarget.value
              setText(typed)
              if (typed === '' || known.includes(typed)) take(typed)
            }}
            onChange={(event) => take(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {known.slice(0, 200).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

/** The filters are in the address, by their names in the API. */
export function TimeFilters({ times }: { times: readonly { name: string; label: string }[] }) {
  return (
    <>
      {times.map(({ name, label }) => (
        <TextField
          key={name}
          label={label}
          type="datetime-local"
          value={localTime(search.value.get(name) ?? '')}
          onInput={(value) => setSearch({ [name]: utcTime(value) })}
        />
      ))}
    </>
  )
}
