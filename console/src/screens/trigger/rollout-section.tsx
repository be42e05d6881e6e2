// How the run is released to its devices: in waves, at a rate, with gates, and what stops it.

import '../../styles/forms.css'
import { CheckList } from '../../parts/check-list.tsx'
import { TextField } from '../../parts/field.tsx'
import { problemsOf, type RolloutDraft, type RolloutField, refusedField } from './rollout-draft.ts'

type Props = {
  draft: RolloutDraft
  onChange: (draft: RolloutDraft) => void
  /** The job has a rollout or needs approval by itself. */
  hasDefault: boolean
  error: unknown
}

export function RolloutSection({ draft, onChange, hasDefault, error }: Props) {
  const set = (change: Partial<RolloutDraft>) => onChange({ ...draft, ...change })
  const problems = problemsOf(draft)
  const refused = refusedField(error)
  const field = (name: RolloutField, label: string, placeholder: string, hint: string) => (
    <TextField
      label={label}
      value={draft[name]}
      onInput={(text) => set({ [name]: text })}
      placeholder={placeholder}
      hint={hint}
      error={problems[name] ?? (refused?.field === name ? refused.text : undefined)}
    />
  )
  return (
    <section class="panel stack" aria-label="Rollout">
      <CheckList
        label="Rollout"
        options={[{ value: 'on', label: 'Roll out in steps', about: 'instead of to all devices at once' }]}
        chosen={draft.isOn ? ['on'] : []}
        onChange={(chosen) => set({ isOn: chosen.length > 0 })}
      />
      {hasDefault && (
        <p class="quiet">
          This job has a default rollout or needs approval. A rollout set here replaces the default one.
        </p>
      )}
      {draft.isOn && (
        <>
          <div class="side-by-side">
            {field('canary', 'Canary devices', 'None', 'The first wave.')}
            {field('waves', 'Waves', '100%', 'Numbers or percentages of all devices: 10%, 50%, 100%.')}
            {field('rate', 'Devices per minute', 'No limit', 'At most so many are released.')}
          </div>
          <div class="side-by-side">
            {field(
              'succeeded',
              'Succeeded, in percent',
              'All ended',
              'Of a wave, before the next one starts.',
            )}
            {field('reported', 'Reported attributes', 'fw=2.4.1', 'Counts only devices that report this.')}
            {field('soak', 'Soak time', 'None', 'How long that must hold.')}
          </div>
          <div class="side-by-side">
            {field('stopPercent', 'Pause at failures, in percent', 'Never', 'Of what has ended.')}
            {field('stopAfter', 'Once so many have ended', '1', 'Before that, nothing is paused.')}
          </div>
          <CheckList
            label="Approval"
            options={[{ value: 'yes', label: 'Needs approval', about: 'with another key, before it starts' }]}
            chosen={draft.approval ? ['yes'] : []}
            onChange={(chosen) => set({ approval: chosen.length > 0 })}
          />
        </>
      )}
    </section>
  )
}
