// The fields of a rollout: waves, a rate, the gate between waves, and stop rules.

import { TextField } from '../parts/field.tsx'
import { problemsOf, type RolloutDraft, type RolloutField, refusedField } from './rollout-draft.ts'

type Props = { draft: RolloutDraft; onChange: (draft: RolloutDraft) => void; error: unknown }

export function RolloutFields({ draft, onChange, error }: Props) {
  const problems = problemsOf(draft)
  const refused = refusedField(error)
  const field = (name: RolloutField, label: string, placeholder: string, hint: string) => (
    <TextField
      label={label}
      value={draft[name]}
      onInput={(text) => onChange({ ...draft, [name]: text })}
      placeholder={placeholder}
      hint={hint}
      error={problems[name] ?? (refused?.field === name ? refused.text : undefined)}
    />
  )
  return (
    <>
      <div class="side-by-side">
        {field('canary', 'Canary devices', 'None', 'The first wave.')}
        {field('waves', 'Waves', '100%', 'Numbers or percentages of all devices: 10%, 50%, 100%.')}
        {field('rate', 'Devices per minute', 'No limit', 'Release at most this many per minute.')}
        {field(
          'budget',
          'At most per value',
          'site=1',
          'Unfinished at once, for each value of an attribute.',
        )}
      </div>
      <div class="side-by-side">
        {field(
          'succeeded',
          'Succeeded, in percent',
          '100',
          'Required in each wave before the next one starts.',
        )}
        {field('reported', 'Reported attributes', 'fw=2.4.1', 'Count only devices that report this.')}
        {field('soak', 'Soak time', 'None', 'How long the condition must hold.')}
      </div>
      <div class="side-by-side">
        {field('stopPercent', 'Pause at failures, in percent', 'Never', 'Of the ended executions.')}
        {field(
          'stopAfter',
          'After at least this many have ended',
          '1',
          'Until then, the rule does not apply.',
        )}
      </div>
    </>
  )
}
