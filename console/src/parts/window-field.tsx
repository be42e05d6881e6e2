import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { SelectField } from './field.tsx'

type Props = {
  value: string
  onChange: (window: string) => void
  /** The text of the option for no window. */
  none: string
  hint?: string
  error?: string | undefined
}

/** Selects a window by name. A deleted window that is still set is shown as well. */
export function WindowField({ value, onChange, none, hint, error }: Props) {
  const windows = useQuery(queries.allWindows()).data ?? []
  const names = windows.map(({ windowName }) => windowName)
  const known = value === '' || names.includes(value) ? names : [value, ...names]
  return (
    <SelectField
      label="Window"
      value={value}
      options={[{ value: '', label: none }, ...known.map((name) => ({ value: name, label: name }))]}
      onChange={onChange}
      {...(hint !== undefined && { hint })}
      error={error}
    />
  )
}
