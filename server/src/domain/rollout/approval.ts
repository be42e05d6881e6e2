// Four eyes: what was decided about a run, by whom, and whose hand is in it. Pure, and free of the rest of a rollout:
// judge-rollout.ts says how a run goes on that was approved, decide-approval.ts who may decide.

import type { Approval, Decision, Rollout } from '@jobcast/contract'
import { requiredApprovals, toApproval } from '@jobcast/contract/words'
import type { WallInstant } from '../common/instants.ts'

export type StoredDecision = {
  principal: string
  /** Of the principal: see domain/access/lineage.ts. */
  lineage: string
  at: WallInstant
  decision: Decision
  comment: string | null
  /** About what it asks for now; false: the run has changed since, or has gone on. */
  counts: boolean
}

/** Of a run that somebody has changed, fired or decided about. */
export type ApprovalStatus = {
  /** Lineages of those that have changed or fired it; whoever created it is kept with the run. */
  hands: string[]
  decisions: StoredDecision[]
  /** Of what was approved; null: nothing yet. */
  digest: string | null
  /** What it was when a change made it wait again; null: it waits for its begin, or at a gate. */
  returnsTo: 'ROLLING_OUT' | 'PAUSED' | null
}
type Approved = { approval?: ApprovalStatus }

/** The last ones are kept. */
const maxDecisions = 100
export const nothingDecided: ApprovalStatus = { hands: [], decisions: [], digest: null, returnsTo: null }

export function handsIn({ approval = nothingDecided }: Approved): string[] {
  return approval.hands
}

export function withHands<Status extends Approved>(status: Status, lineages: readonly string[]): Status {
  const { approval = nothingDecided } = status
  const hands = [...new Set([...approval.hands, ...lineages])]
  return hands.length === approval.hands.length ? status : { ...status, approval: { ...approval, hands } }
}

export function decisionsOf({ approval = nothingDecided }: Approved): StoredDecision[] {
  return approval.decisions
}

/** All that have paused, denied or approved it, as far as it names them. */
export function actorsOf(status: Approved & { pausedBy: string | null }): (string | null)[] {
  return [status.pausedBy, ...decisionsOf(status).map(({ principal }) => principal)]
}

/** Those that count for what it asks for now. */
export function countedDecisions(status: Approved): StoredDecision[] {
  return decisionsOf(status).filter(({ counts }) => counts)
}

export function withDecision<Status extends Approved>(status: Status, decision: StoredDecision): Status {
  const { approval = nothingDecided } = status
  const decisions = [...approval.decisions, decision].slice(-maxDecisions)
  return { ...status, approval: { ...approval, decisions } }
}

/** They stay in the list, and count for nothing any more. */
export function withVoidDecisions(approval: ApprovalStatus = nothingDecided): ApprovalStatus {
  return { ...approval, decisions: approval.decisions.map((each) => ({ ...each, counts: false })) }
}

/** How many approvals it needs whenever it waits: at its begin, at a gate, after a change. */
export function neededApprovals({ approval }: { approval: Approval }): number {
  return Math.max(1, requiredApprovals(approval))
}

/** Between waves it waits for an approval. */
function asksAtGates({ next, waves = [] }: Rollout): boolean {
  return next?.action === 'APPROVAL' && waves.length > 1
}

type Asking = { approval?: Approval; rollout?: Rollout }

/** What a run needs: as many approvals as either asks for, and one if it leaves out gates that would ask for one. */
export function approvalUnder(asked: Asking, run: Asking): Approval {
  const required = Math.max(requiredApprovals(asked.approval), requiredApprovals(run.approval))
  return toApproval(required > 0 ? required : Number(leavesOutGates(asked, run)))
}

/** Runs would need fewer approvals than before. */
export function weakensApproval(before: Asking, after: Asking): boolean {
  const required = requiredApprovals(after.approval)
  if (required < requiredApprovals(before.approval)) return true
  return required === 0 && leavesOutGates(before, after)
}

function leavesOutGates({ rollout: before = {} }: Asking, { rollout: after = {} }: Asking): boolean {
  return asksAtGates(before) && !asksAtGates(after)
}
