import { approvalUnder } from '../rollout/approval.ts'
import type { StoredJobContent } from './ports/jobs.ts'

type HeldBack = Pick<StoredJobContent, 'rollout' | 'approval' | 'window'>

/** Approval and window are those of the current version, so that an earlier version cannot bypass them. */
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
