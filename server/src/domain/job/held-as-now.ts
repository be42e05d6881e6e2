import { approvalUnder } from '../rollout/approval.ts'
import type { StoredJobContent } from './ports/jobs.ts'

type HeldBack = Pick<StoredJobContent, 'rollout' | 'approval' | 'window'>

/** What holds devices back is that of the current version: no earlier one is a way around an approval or a window. */
export function heldAsNow<Version extends HeldBack>(version: Version, current: HeldBack): Version {
  const { approval, window, ...rest } = version
  const rollout = version.rollout ?? current.rollout
  const required = approvalUnder(current, { ...(rollout && { rollout }) })
  return {
    ...(rest as Version),
    ...(rollout && { rollout }),
    ...(required && { approval: required }),
    ...(current.window && { window: current.window }),
  }
}
