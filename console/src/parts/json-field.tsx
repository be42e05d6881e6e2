// A field for a JSON object: errors are shown with line and column, and the cursor can jump there.

import { useRef } from 'preact/hooks'
import { Field } from './field.tsx'
import { findJsonError } from './find-json-error.ts'
import '../styles/forms.css'

type Props = {
  label: string
  hint?: string
  value: string
  onInput: (value: string) => void
  maxBytes: number
  isReadOnly?: boolean
  /** May be empty, which means no value. */
  isOptional?: boolean
  placeholder?: string
  /** The error from the server. */
  error?: string | undefined
}

export function JsonField(props: Props) {
  const { label, hint, value, onInput, maxBytes, isReadOnly = false, isOptional = false } = props
  const area = useRef<HTMLTextAreaElement>(null)
  const isLeftOut = isOptional && value.trim() === ''
  const problem = isLeftOut ? undefined : findProblem(value, maxBytes)
  const goThere = () => {
    area.current?.focus()
    area.current?.setSelectionRange(problem?.offset ?? 0, problem?.offset ?? 0)
  }
  return (
    <div class="json-field">
      <Field label={label} {...(hint !== undefined && { hint })} error={problem?.text ?? props.error}>
        {(control) => (
          <textarea
            {...control}
            ref={area}
            class="mono"
            rows={Math.min(24, Math.max(6, value.split('\n').length + 1))}
            value={value}
            placeholder={props.placeholder}
            readOnly={isReadOnly}
            autoComplete="off"
            spellcheck={false}
            wrap="off"
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )}
      </Field>
      {!isReadOnly && !isLeftOut && (
        <div class="json-tools">
          {problem ? (
            <button type="button" class="ghost" onClick={goThere}>
              Go to the error
            </button>
          ) : (
            <button
              type="button"
              class="ghost"
              onClick={() => onInput(JSON.stringify(JSON.parse(value), null, 2))}
            >
              Format
            </button>
          )}
        </div>
      )}
    </div>
  )
}

type Problem = { text: string; offset: number }

export function findProblem(value: string, maxBytes: number): Problem | undefined {
  const error = findJsonError(value)
  if (error) {
    return { text: `Line ${error.line}, column ${error.column}: ${error.message}.`, offset: error.offset }
  }
  const parsed: unknown = JSON.parse(value)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { text: 'Must be an object: { … }', offset: 0 }
  }
  const bytes = new TextEncoder().encode(JSON.stringify(parsed)).length
  if (bytes > maxBytes)
    return { text: `${bytes} bytes; at most ${maxBytes} are allowed.`, offset: value.length }
  return undefined
}
