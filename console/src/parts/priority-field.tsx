import { SelectField } from './field.tsx'

type Props = {
  /** A digit; empty: none is chosen. */
  value: string
  onChange: (priority: string) => void
  /** What it means to choose none; without it, one is always chosen. */
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
      hint="Of what waits on a device, a higher one is offered first."
      error={error}
    />
  )
}
