// Fields for the number of approvals that runs need.

import { type ApprovalAsked, maxApprovals, requiredApprovals, toApproval } from '@jobcast/contract/words'
import { CheckList } from '../parts/check-list.tsx'
import { SelectField } from '../parts/field.tsx'

type Props = {
  label: string
  about: string
  value: ApprovalAsked
  onChange: (approval: ApprovalAsked) => void
}

const counts = Array.from({ length: maxApprovals }, (_, index) => ({
  value: String(index + 1),
  label: index === 0 ? '1 approval' : `${index + 1} approvals`,
}))

export function ApprovalFields({ label, about, value, onChange }: Props) {
  const required = requiredApprovals(value)
  return (
    <>
      <CheckList
        label="Approval"
        options={[{ value: 'yes', label, about }]}
        chosen={required > 0 ? ['yes'] : []}
        onChange={(chosen) => onChange(chosen.length > 0)}
      />
      {required > 0 && (
        <SelectField
          label="Required approvals"
          value={String(required)}
          options={counts}
          onChange={(count) => onChange(toApproval(Number(count)))}
        />
      )}
    </>
  )
}
