// The targets of a schedule: a selector, a group, or listed devices.

import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { SelectField } from '../../parts/field.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { SelectorField } from '../../selector/selector-field.tsx'
import type { PartProps, TargetKind } from './schedule-draft.ts'

const kinds: { value: TargetKind; label: string }[] = [
  { value: 'where', label: 'Devices that match a selector' },
  { value: 'group', label: 'A group' },
  { value: 'deviceIds', label: 'Devices by ID' },
]

export function TargetFields({ draft, set, errorOf }: PartProps) {
  return (
    <>
      <SelectField
        label="On"
        value={draft.targetKind}
        options={kinds}
        onChange={(kind) => set({ targetKind: kind as TargetKind })}
      />
      {draft.targetKind === 'where' && (
        <>
          <SelectorField
            label="Selector"
            isStrict
            text={draft.where}
            onInput={(where) => set({ where })}
            hint="Evaluated for each run."
          />
          {draft.where.trim() === '' && errorOf('where') && <p class="field-error">{errorOf('where')}</p>}
        </>
      )}
      {draft.targetKind === 'group' && <GroupField {...{ draft, set, errorOf }} />}
      {draft.targetKind === 'deviceIds' && (
        <>
          <TagsField
            label="Devices"
            values={draft.deviceIds}
            onChange={(deviceIds) => set({ deviceIds })}
            hint="Press Enter or comma after each."
          />
          {errorOf('deviceIds') && <p class="field-error">{errorOf('deviceIds')}</p>}
        </>
      )}
    </>
  )
}

function GroupField({ draft, set, errorOf }: PartProps) {
  const groups = useQuery(queries.allGroups()).data ?? []
  const names = groups.map(({ groupName }) => groupName)
  const known = draft.group === '' || names.includes(draft.group) ? names : [draft.group, ...names]
  return (
    <SelectField
      label="Group"
      value={draft.group}
      options={[
        { value: '', label: 'Choose a group' },
        ...known.map((name) => ({ value: name, label: name })),
      ]}
      onChange={(group) => set({ group })}
      error={errorOf('group')}
    />
  )
}
