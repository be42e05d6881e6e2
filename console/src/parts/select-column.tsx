import '../styles/forms.css'
import type { Column } from './data-table.tsx'

type Selection<Id> = { selected: ReadonlySet<Id>; onChange: (selected: ReadonlySet<Id>) => void }

/** A column of check boxes, one for each row. */
export function selectColumn<T, Id extends string | number>(
  idOf: (row: T) => Id,
  { selected, onChange }: Selection<Id>,
): Column<T> {
  return {
    name: 'select',
    title: <span class="hidden">Select</span>,
    width: '16px',
    cell: (row) => {
      const id = idOf(row)
      return (
        <span class="select-cell">
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={selected.has(id)}
            onChange={(event) => {
              const next = new Set(selected)
              if (event.currentTarget.checked) next.add(id)
              else next.delete(id)
              onChange(next)
            }}
          />
        </span>
      )
    },
  }
}
