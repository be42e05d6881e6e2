// Approvals as text: how many are required, and who has given them.

import type { Job, Run } from '@jobcast/client'
import { requiredApprovals, whoInWords } from '@jobcast/contract/words'
import { localTime } from './local-time.ts'
import { plainText } from './text-width.ts'

export function approvalText(approval: Job['approval']): string {
  const required = requiredApprovals(approval)
  return required > 1 ? `${required} required` : 'required'
}

type Shown = Pick<Run, 'approvals' | 'rollout'>

/** The approval fields of a run. */
export function approvalFields({ approvals, rollout }: Shown) {
  const { required, given } = rollout?.approval ?? { required: 0, given: 0 }
  return {
    ...(required > 1 && { approvals: `${given} of ${required}` }),
    ...(approvals.length > 0 && { decisions: approvals.map(decisionText).join('; ') }),
  }
}

/** APPROVED by ci at 2026-11-18 10:00:00: tested on the bench */
function decisionText({ decision, name, principal, at, comment }: Run['approvals'][number]): string {
  const why = comment === null ? '' : `: ${plainText(comment)}`
  return `${decision} by ${plainText(whoInWords(principal, name))} at ${localTime(at)}${why}`
}
