import '../styles/forms.css'
import type { Column } from './data-table.tsx'

type Selection<Id> = {
  selected: ReadonlySet<Id>
  onChange: (selected: ReadonlySet<Id>) => void
  /** For lists in which all matches can be selected, including those not loaded: then `selected` has the exceptions. */
  all?: { isOn: boolean; onChange: (isOn: boolean) => void }
}

/** A column with a check box for each row. */
export function selectColumn<T, Id extends string | number>(
  idOf: (row: T) => Id,
  { selected, onChange, all }: Selection<Id>,
): Column<T> {
  return {
    name: 'select',
    title: all ? (
      <span class="select-cell">
        <input
          type="checkbox"
          aria-label="Select all that match"
          checked={all.isOn}
          onChange={(event) => all.onChange(event.currentTarget.checked)}
        />
      </span>
    ) : (
      <span class="hidden">Select</span>
    ),
    width: '16px',
    cell: (row) => {
      const id = idOf(row)
      return (
        <span class="select-cell">
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={selected.has(id) !== (all?.isOn ?? false)}
            onChange={(event) => {
              const next = new Set(selected)
              if (event.currentTarget.checked !== (all?.isOn ?? false)) next.add(id)
              else next.delete(id)
              onChange(next)
            }}
          />
        </span>
      )
    },
  }
}
