// The attributes set by the owner, one row for each, with the value that the device reports under the same name.

import type { Device } from '@jobcast/client'
import { Icon } from '../../parts/icon.tsx'
import { type AttributeRow, type AttributeType, newRow, rowProblem, tooMany } from './attribute-rows.ts'

type Props = {
  rows: AttributeRow[]
  onChange: (rows: AttributeRow[]) => void
  reported: Device['reportedAttributes']
}

export function AttributesField({ rows, onChange, reported }: Props) {
  const problem = tooMany(rows)
  return (
    <fieldset class="attributes-field">
      <legend>Attributes</legend>
      {rows.map((row) => (
        <Row
          key={row.id}
          row={row}
          problem={rowProblem(row, rows)}
          reported={reported[row.name.trim()]}
          onChange={(change) =>
            onChange(rows.map((each) => (each.id === row.id ? { ...row, ...change } : each)))
          }
          onRemove={() => onChange(rows.filter(({ id }) => id !== row.id))}
        />
      ))}
      {problem && <p class="field-error">{problem}</p>}
      <button type="button" onClick={() => onChange([...rows, newRow()])}>
        Add attribute
      </button>
    </fieldset>
  )
}

type RowProps = {
  row: AttributeRow
  problem: string | undefined
  reported: unknown
  onChange: (change: Partial<AttributeRow>) => void
  onRemove: () => void
}

const types: { value: AttributeType; label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'Boolean' },
]

function Row({ row, problem, reported, onChange, onRemove }: RowProps) {
  const about = `attribute-${row.id}`
  const name = row.name.trim() || 'new attribute'
  const described = { 'aria-invalid': problem !== undefined, 'aria-describedby': about }
  return (
    <div class="attribute-row">
      <input
        {...described}
        aria-label={`Name of ${name}`}
        class="mono"
        placeholder="Name"
        value={row.name}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
      {row.type === 'boolean' ? (
        <select
          {...described}
          aria-label={`Value of ${name}`}
          value={row.text === 'true' ? 'true' : 'false'}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
        >
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <input
          {...described}
          aria-label={`Value of ${name}`}
          placeholder="Value"
          value={row.text}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => onChange({ text: event.currentTarget.value })}
        />
      )}
      <select
        aria-label={`Type of ${name}`}
        value={row.type}
        onChange={(event) => onChange({ type: event.currentTarget.value as AttributeType })}
      >
        {types.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <button type="button" class="ghost" aria-label={`Remove ${name}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
      <p id={about} class={problem ? 'field-error' : 'quiet'}>
        {problem ??
          (reported !== undefined && `The device reports ${String(reported)}; this value takes precedence.`)}
      </p>
    </div>
  )
}
