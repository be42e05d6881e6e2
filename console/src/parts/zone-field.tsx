// A time zone by its IANA name.

import { isTimeZone } from '@jobcast/contract/selector'
import { useMemo, useState } from 'preact/hooks'
import { Field } from './field.tsx'

type Props = {
  label: string
  hint?: string
  value: string
  onInput: (value: string) => void
  placeholder?: string
  /** Names that are allowed in addition to zones. */
  others?: readonly string[]
  error?: string | undefined
}

export function zoneProblem(value: string, others: readonly string[] = []): string | undefined {
  const name = value.trim()
  const isRight = name === '' || others.includes(name) || isTimeZone(name)
  return isRight ? undefined : 'Must be a time zone such as Europe/Berlin.'
}

export function ZoneField({ label, hint, value, onInput, placeholder, others = [], error }: Props) {
  // The list has hundreds of elements, so it is created when the field is used.
  const [isUsed, setUsed] = useState(false)
  const zones = useMemo(() => (isUsed ? [...others, ...Intl.supportedValuesOf('timeZone')] : []), [isUsed])
  return (
    <Field label={label} {...(hint !== undefined && { hint })} error={error ?? zoneProblem(value, others)}>
      {(control) => (
        <>
          <input
            {...control}
            type="text"
            list={`${control.id}-zones`}
            value={value}
            placeholder={placeholder}
            autoComplete="off"
            spellcheck={false}
            onFocus={() => setUsed(true)}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          <datalist id={`${control.id}-zones`}>
            {zones.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
