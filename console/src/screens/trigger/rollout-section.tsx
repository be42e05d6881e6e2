// The rollout of the run: waves, a rate, gates, and stop rules.

import { CheckList } from '../../parts/check-list.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import type { RolloutDraft } from '../../rollout/rollout-draft.ts'
import type { StepsProps } from './steps-fields.tsx'

/** Loaded on demand, because most runs release to all devices at once. */
const StepsFields = lazyPart<StepsProps>(() => import('./steps-fields.tsx'))

type Props = {
  draft: RolloutDraft
  onChange: (draft: RolloutDraft) => void
  /** The job has its own rollout or needs approval. */
  hasDefault: boolean
  error: unknown
}

export function RolloutSection({ draft, onChange, hasDefault, error }: Props) {
  const set = (change: Partial<RolloutDraft>) => onChange({ ...draft, ...change })
  return (
    <section class="panel stack" aria-label="Rollout">
      <CheckList
        label="Rollout"
        options={[
          {
            value: 'on',
            label: 'Roll out in steps',
            about: 'instead of releasing to all devices immediately',
          },
        ]}
        chosen={draft.isOn ? ['on'] : []}
        onChange={(chosen) => set({ isOn: chosen.length > 0 })}
      />
      {hasDefault && (
        <p class="quiet">
          This job has a default rollout or needs approval. A rollout set here replaces the default one.
        </p>
      )}
      {draft.isOn && <StepsFields draft={draft} onChange={onChange} error={error} />}
    </section>
  )
}
