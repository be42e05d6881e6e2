// When the run is offered to devices, and a note.

import { CheckList } from '../../parts/check-list.tsx'
import { TextField } from '../../parts/field.tsx'
import { PriorityField } from '../../parts/priority-field.tsx'
import { timeZone as ownZone } from '../../parts/time.ts'
import { WindowField } from '../../parts/window-field.tsx'
import { useScopes } from '../../scopes.ts'
import { refusedWhenField, type WhenDraft, whenProblems } from './when-draft.ts'

type Props = {
  draft: WhenDraft
  onChange: (draft: WhenDraft) => void
  /** The window of the job. */
  defaultWindow: string | null
  error: unknown
}

export function WhenSection({ draft, onChange, defaultWindow, error }: Props) {
  const { can } = useScopes()
  const set = (change: Partial<WhenDraft>) => onChange({ ...draft, ...change })
  const problems = whenProblems(draft)
  const refused = refusedWhenField(error)
  const refusal = (field: string) => (refused?.field === field ? refused.text : undefined)
  return (
    <section class="panel when" aria-label="When">
      <TextField
        label={`Start at, in ${ownZone} time`}
        type="datetime-local"
        value={draft.startAt}
        onInput={(startAt) => set({ startAt })}
        hint="Optional. By default, it starts immediately."
        error={problems.startAt ?? refusal('startAt')}
      />
      {can('READ') && !draft.ignoreWindows && (
        <WindowField
          value={draft.window}
          onChange={(window) => set({ window })}
          none={defaultWindow === null ? 'None (at any time)' : `Default of the job: ${defaultWindow}`}
          hint="Devices are offered the run only while the window is open."
          error={refusal('window')}
        />
      )}
      {can('MANAGE') && defaultWindow !== null && (
        <CheckList
          label="Ignore windows"
          options={[
            { value: 'yes', label: 'Offer it at any time', about: 'even outside the window of the job' },
          ]}
          chosen={draft.ignoreWindows ? ['yes'] : []}
          onChange={(chosen) => set({ ignoreWindows: chosen.length > 0 })}
        />
      )}
      <PriorityField
        value={draft.priority}
        onChange={(priority) => set({ priority })}
        none="Default of the job"
        error={refusal('priority')}
      />
      <CheckList
        label="Replace"
        options={[
          { value: 'yes', label: 'Cancel pending executions', about: 'of the same job on these devices' },
        ]}
        chosen={draft.replaces ? ['yes'] : []}
        onChange={(chosen) => set({ replaces: chosen.length > 0 })}
      />
      <TextField
        label="Note"
        value={draft.note}
        onInput={(note) => set({ note })}
        placeholder={draft.ignoreWindows ? 'Reason' : 'Optional'}
        hint="Shown on the run."
        error={problems.note ?? refusal('note')}
      />
    </section>
  )
}
