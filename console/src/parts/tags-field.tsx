// Tags that can be removed one by one, and a field for the next one. Enter or a comma adds it.

import { useState } from 'preact/hooks'
import { Field } from './field.tsx'
import { Icon } from './icon.tsx'
import '../styles/forms.css'

type Props = {
  label: string
  hint?: string
  values: string[]
  onChange: (values: string[]) => void
  /** Offered while typing. */
  suggestions?: readonly string[]
  placeholder?: string
}

export function TagsField({ label, hint, values, onChange, suggestions = [], placeholder }: Props) {
  const [text, setText] = useState('')
  const add = (written: string) => {
    const fresh = written
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
    if (fresh.length > 0) onChange([...new Set([...values, ...fresh])])
    setText('')
  }
  const onInput = (event: InputEvent) => {
    const written = (event.currentTarget as HTMLInputElement).value
    // A chosen suggestion is complete, unlike typed text.
    const isPicked = !/^(?:insertText|delete)/.test(event.inputType ?? '') && suggestions.includes(written)
    if (written.includes(',') || isPicked) add(written)
    else setText(written)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && text.trim() !== '') {
      event.preventDefault()
      add(text)
    } else if (event.key === 'Backspace' && text === '') onChange(values.slice(0, -1))
  }
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(control) => (
        <div class="tags-field">
          {values.map((value) => (
            <span class="tag" key={value}>
              {value}
              <button
                type="button"
                class="ghost"
                aria-label={`Remove ${value}`}
                onClick={() => onChange(values.filter((other) => other !== value))}
              >
                <Icon name="close" />
              </button>
            </span>
          ))}
          <input
            {...control}
            type="text"
            list={suggestions.length > 0 ? `${control.id}-list` : undefined}
            value={text}
            placeholder={values.length === 0 ? placeholder : undefined}
            autoComplete="off"
            spellcheck={false}
            onInput={onInput}
            onKeyDown={onKeyDown}
            onBlur={() => add(text)}
          />
          {suggestions.length > 0 && (
            <datalist id={`${control.id}-list`}>
              {suggestions
                .filter((suggestion) => !values.includes(suggestion))
                .map((suggestion) => (
                  <option key={suggestion} value={suggestion} />
                ))}
            </datalist>
          )}
        </div>
      )}
    </Field>
  )
}
