// Approving and denying a run. It continues when it has all the approvals that it needs; one denial ends it.

import { ApiError, type ApprovalRequest, type Decision } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { notFound } from '../common/not-found.ts'
import type { Moment } from '../execution/execution.ts'
import { type ReplaceAfterDeps, replaceAfterApproval } from '../trigger/replace-waiting.ts'
import {
  countedDecisions,
  hasDecided,
  neededApprovals,
  type StoredDecision,
  withDecision,
} from './approval.ts'
import { type DigestDeps, readDigest } from './approval-digest.ts'
import { type ChangeRolloutDeps, changeRollout, countsOf, decided, requireState } from './change-rollout.ts'
import { requireNoHand } from './hands.ts'
import { approveRollout, hasBegun, pauseRollout } from './judge-rollout.ts'
import type { RolloutFactsFound } from './ports/rollouts.ts'
import type { StoredRollout } from './rollout.ts'

export async function approveRun(
  deps: ChangeRolloutDeps & ReplaceAfterDeps,
  caller: Caller,
  runId: number,
  request: ApprovalRequest,
): Promise<void> {
  let begins = false
  await changeRollout(deps, caller, runId, async (found, moment) => {
    const { status, plan } = found.rollout
    const decision = await decide(deps, caller, found, moment, request, 'APPROVED')
    const { digest } = decision
    const approved = withDecision(status, decision)
    const missing = neededApprovals(plan) - countedDecisions(approved, digest).length
    const counts = missing > 0 ? undefined : await countsOf(deps, found)
    const after = counts ? approveRollout(approved, { ...counts, digest, now: moment.clock }) : approved
    begins = !hasBegun(status) && hasBegun(after)
    return decided(after, 'run.approved', caller, { missing: Math.max(0, missing), ...commentOf(request) })
  })
  if (begins) await replaceAfterApproval(deps, { ownerNo: caller.ownerNo, runId })
}

/** Ends the run; executions that are not released are canceled. */
export function denyRun(
  deps: ChangeRolloutDeps,
  caller: Caller,
  runId: number,
  request: ApprovalRequest,
): Promise<void> {
  return changeRollout(deps, caller, runId, async (found, moment) => {
    const decision = await decide(deps, caller, found, moment, request, 'DENIED')
    const because = request.comment ?? 'it was denied'
    const by = principalOf(caller)
    const denied = pauseRollout(withDecision(found.rollout.status, decision), {
      rule: 'PRINCIPAL',
      because,
      by,
    })
    return decided({ ...denied, state: 'DENIED' }, 'run.denied', caller, commentOf(request))
  })
}

/** Throws J-810 and J-303. */
async function decide(
  deps: ChangeRolloutDeps,
  caller: Caller,
  found: RolloutFactsFound,
  { at }: Moment,
  { comment, digest: seen }: ApprovalRequest,
  decision: Decision,
): Promise<StoredDecision & { digest: string }> {
  const { status, runId } = found.rollout
  const lineage = await requireNoHand(deps, caller, found)
  requireState(status, 'AWAITING_APPROVAL')
  const digest = await requireDigest(deps, found.rollout, seen)
  if (hasDecided(status, digest, lineage)) {
    throw new ApiError('J-303', {
      detail: `You have already decided on run ${runId}; the other decisions must come from others.`,
    })
  }
  const principal = principalOf(caller)
  return { principal, lineage, at, decision, comment: comment ?? null, counts: true, digest }
}

/** Returns the current digest. Throws J-303 if the run has changed since the caller read its digest. */
async function requireDigest(
  deps: DigestDeps,
  rollout: StoredRollout,
  seen: string | undefined,
): Promise<string> {
  const digest = await readDigest(deps, rollout)
  if (digest === undefined) throw notFound('J-304', rollout.runId)
  if (seen === undefined || seen === digest) return digest
  const detail = `Run ${rollout.runId} has changed since its digest was read: look at it again.`
  throw new ApiError('J-303', { detail })
}

function commentOf({ comment }: ApprovalRequest): { comment?: string } {
  return comment === undefined ? {} : { comment }
}
