// The rollout of a job or a schedule, with the fields of the trigger or as JSON.

import './rollout.css'
import { CheckList } from '../parts/check-list.tsx'
import { errorAt } from '../parts/error-at.ts'
import { JsonField } from '../parts/json-field.tsx'
import {
  type EditedRollout,
  editedRolloutProblem,
  editRollout,
  maxRolloutBytes,
  rolloutOf,
} from './edited-rollout.ts'
import { draftOf, refusedField } from './rollout-draft.ts'
import { RolloutFields } from './rollout-fields.tsx'

type Props = {
  label: string
  /** What is so without one. */
  none: string
  edited: EditedRollout
  onChange: (edited: EditedRollout) => void
  isReadOnly?: boolean
  error: unknown
}

const example = '{ "waves": [{ "size": 5 }, { "size": "100%" }] }'

export function RolloutEditor({ label, none, edited, onChange, isReadOnly = false, error }: Props) {
  const { fields, json } = edited
  const isRight = editedRolloutProblem(edited) === undefined
  const refused = errorAt(error, 'rollout')
  if (!fields) {
    const rollout = isRight ? rolloutOf(edited) : undefined
    const hasFields = isRight && (rollout === undefined || draftOf(rollout) !== undefined)
    return (
      <div class="stack rollout-editor">
        <JsonField
          label={label}
          hint={`How each run is released. Empty: ${none}.`}
          placeholder={example}
          value={json}
          onInput={(text) => onChange({ fields, json: text })}
          maxBytes={maxRolloutBytes}
          isReadOnly={isReadOnly}
          isOptional
          error={refused}
        />
        {hasFields && !isReadOnly && (
          <button
            type="button"
            aria-label={`Edit as form: ${label}`}
            onClick={() => onChange(editRollout(rollout))}
          >
            Edit as form
          </button>
        )}
      </div>
    )
  }
  const toJson = () => {
    const rollout = rolloutOf(edited)
    onChange({ fields: undefined, json: rollout ? JSON.stringify(rollout, null, 2) : '' })
  }
  return (
    <div class="stack rollout-editor">
      <CheckList
        label={label}
        options={[{ value: 'on', label: 'Roll out in steps', about: `otherwise: ${none}` }]}
        chosen={fields.isOn ? ['on'] : []}
        onChange={(chosen) => onChange({ ...edited, fields: { ...fields, isOn: chosen.length > 0 } })}
      />
      {fields.isOn && (
        <RolloutFields
          draft={fields}
          onChange={(next) => onChange({ ...edited, fields: next })}
          error={error}
        />
      )}
      {refused && !refusedField(error) && <p class="field-error">{refused}</p>}
      {!isReadOnly && (
        <button type="button" aria-label={`Edit as JSON: ${label}`} disabled={!isRight} onClick={toJson}>
          Edit as JSON
        </button>
      )}
    </div>
  )
}
