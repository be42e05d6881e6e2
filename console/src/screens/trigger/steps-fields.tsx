import '../../styles/forms.css'
import { ApprovalFields } from '../../rollout/approval-fields.tsx'
import type { RolloutDraft } from '../../rollout/rollout-draft.ts'
import { RolloutFields } from '../../rollout/rollout-fields.tsx'

export type StepsProps = { draft: RolloutDraft; onChange: (draft: RolloutDraft) => void; error: unknown }

export default function StepsFields({ draft, onChange, error }: StepsProps) {
  return (
    <>
      <RolloutFields draft={draft} onChange={onChange} error={error} />
      <ApprovalFields
        label="Needs approval"
        about="by others, before it starts"
        value={draft.approval}
        onChange={(approval) => onChange({ ...draft, approval })}
      />
    </>
  )
}
