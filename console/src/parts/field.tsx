// A form control with its label, a hint and an error.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { isFocusFree } from './is-focus-free.ts'

type Control = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }

type Props = {
  label: string
  hint?: string
  error?: string | undefined
  /** Gets the attributes that connect the control with its label. */
  children: (control: Control) => ComponentChildren
}

export function Field({ label, hint, error, children }: Props) {
  const id = useId()
  const aboutId = `${id}-about`
  const about = error ?? hint
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': about ? aboutId : undefined, 'aria-invalid': error !== undefined })}
      {about && (
        <p id={aboutId} class={error ? 'field-error' : 'quiet'}>
          {about}
        </p>
      )}
    </div>
  )
}

type TextProps = Omit<Props, 'children'> & {
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'password' | 'search' | 'url' | 'number' | 'datetime-local'
  placeholder?: string
  required?: boolean
  autoFocus?: boolean
  mono?: boolean
}

export function TextField({ label, hint, error, value, onInput, mono, autoFocus, ...rest }: TextProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })} error={error}>
      {(control) => (
        <input
          type="text"
          {...(rest as { placeholder?: string })}
          {...control}
          class={mono ? 'mono' : ''}
          value={value}
          autoComplete="off"
          spellcheck={false}
          ref={(input) => {
            if (autoFocus && input && isFocusFree()) input.focus()
          }}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

type SelectProps = Omit<Props, 'children'> & {
  value: string
  onChange: (value: string) => void
  options: { value: string; label: string }[]
}

export function SelectField({ label, hint, error, value, onChange, options }: SelectProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })} error={error}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
