import type { Run } from '@jobcast/client'
import { shownSelf } from '../api/self.ts'

/** Why this key cannot approve the run; undefined if it can. */
export function whyNotApprove({ createdBy, approvals, rollout }: Run): string | undefined {
  const key = shownSelf.value
  if (!key?.scopes.includes('APPROVE')) return 'To approve or deny it, a key needs the APPROVE scope.'
  if (createdBy === `key:${key.keyId}`)
    return 'It was created with your key; only another key can approve or deny it.'
  const counted = approvals.slice(approvals.length - (rollout?.approval?.given ?? 0))
  if (counted.some(({ principal }) => principal === `key:${key.keyId}`))
    return 'You have already approved it; the other approvals must come from others.'
  return undefined
}
