import { SelectField } from './field.tsx'

type Props = {
  /** A digit, or empty for none. */
  value: string
  onChange: (priority: string) => void
  /** The text of the option for no priority; undefined: a priority is required. */
  none?: string
  error?: string | undefined
}

const priorities = ['9', '8', '7', '6', '5', '4', '3', '2', '1', '0']
const words: Record<string, string> = { 9: '9 (first)', 5: '5 (default)', 0: '0 (last)' }

export function PriorityField({ value, onChange, none, error }: Props) {
  const options = priorities.map((priority) => ({ value: priority, label: words[priority] ?? priority }))
  return (
    <SelectField
      label="Priority"
      value={value}
      options={none === undefined ? options : [{ value: '', label: none }, ...options]}
      onChange={onChange}
      hint="Executions with a higher priority are offered to a device first."
      error={error}
    />
  )
}
