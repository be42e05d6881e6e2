// A list of check boxes.

import '../styles/forms.css'

type Props<Value extends string> = {
  label: string
  options: { value: Value; label: string; about?: string }[]
  chosen: readonly Value[]
  onChange: (chosen: Value[]) => void
  isReadOnly?: boolean
}

export function CheckList<Value extends string>({
  label,
  options,
  chosen,
  onChange,
  isReadOnly,
}: Props<Value>) {
  return (
    <fieldset class="check-list">
      <legend>{label}</legend>
      {options.map(({ value, label, about }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            disabled={isReadOnly}
            onChange={(event) =>
              onChange(
                event.currentTarget.checked ? [...chosen, value] : chosen.filter((other) => other !== value),
              )
            }
          />
          <span>
            {label}
            {about && <span class="quiet"> {about}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
