// A filter by a name. The API matches complete names only, so it applies with Enter, when the field loses the focus, or at
// once when the text is an existing name.

import { useEffect, useId, useState } from 'preact/hooks'
import { Field } from '../../parts/field.tsx'

type Props = {
  label: string
  value: string
  known?: readonly string[]
  inputMode?: 'text' | 'numeric'
  onChange: (value: string) => void
}

export function NameFilter({ label, value, known = [], inputMode = 'text', onChange }: Props) {
  const [text, setText] = useState(value)
  const listId = useId()
  useEffect(() => setText(value), [value]) // the way back changes the address
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
