// The four-eyes principle: the decisions about a run, and who is involved in it (its `hands`). Pure functions:
// judge-rollout.ts decides how an approved run continues, decide-approval.ts who may decide.

import type { Approval, Decision, Rollout } from '@jobcast/contract'
import { requiredApprovals, toApproval } from '@jobcast/contract/words'
import type { WallInstant } from '../common/instants.ts'
import { opensMoreEasily } from './gate.ts'

export type StoredDecision = {
  principal: string
  /** Lineage of the principal: see domain/access/lineage.ts. */
  lineage: string
  at: WallInstant
  decision: Decision
  comment: string | null
  /** False: the run has changed or continued since, so the decision no longer counts. */
  counts: boolean
  /** Of what was decided on; decisions of older versions have none. */
  digest?: string
}

/** Kept for a run that somebody has changed, started or decided about. */
export type ApprovalStatus = {
  /** Lineages of the principals that changed or started the run; its creator is stored with the run. */
  hands: string[]
  decisions: StoredDecision[]
  /** Digest of what was approved; null: nothing yet. */
  digest: string | null
  /** The state it had when a change made it wait again; null: it waits to begin, or at a gate. */
  returnsTo: 'ROLLING_OUT' | 'PAUSED' | null
}
type Approved = { approval?: ApprovalStatus }

/** Older decisions are dropped. */
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

/** Principals that paused, approved or denied the run, as far as known. */
export function actorsOf(status: Approved & { pausedBy: string | null }): (string | null)[] {
  return [status.pausedBy, ...decisionsOf(status).map(({ principal }) => principal)]
}

/** Decisions that still count. `now`: the current digest of a run that waits for approval. */
export function countedDecisions(status: Approved, now: string | undefined): StoredDecision[] {
  return decisionsOf(status).filter(({ counts, digest = now }) => counts && digest === now)
}

/** Each lineage decides once per request for approval. */
export function hasDecided(status: Approved, now: string | undefined, lineage: string): boolean {
  return countedDecisions(status, now).some((each) => each.lineage === lineage)
}

export function withDecision<Status extends Approved>(status: Status, decision: StoredDecision): Status {
  const { approval = nothingDecided } = status
  const decisions = [...approval.decisions, decision].slice(-maxDecisions)
  return { ...status, approval: { ...approval, decisions } }
}

/** Past decisions stay listed but no longer count. */
export function withVoidDecisions(approval: ApprovalStatus = nothingDecided): ApprovalStatus {
  return { ...approval, decisions: approval.decisions.map((each) => ({ ...each, counts: false })) }
}

/** How many approvals a run needs each time it waits: at its start, at a gate, after a change. */
export function neededApprovals({ approval }: { approval: Approval }): number {
  return Math.max(1, requiredApprovals(approval))
}

/** The rollout waits for an approval between waves. */
function asksAtGates({ next, waves = [] }: Rollout): boolean {
  return next?.action === 'APPROVAL' && waves.length > 1
}

type Asking = { approval?: Approval; rollout?: Rollout }
type Wave = NonNullable<Rollout['waves']>[number]

/** What a run needs: the larger number of approvals of both, and at least one if its gates are weaker than those `asked`. */
export function approvalUnder(asked: Asking, run: Asking): Approval {
  const required = Math.max(requiredApprovals(asked.approval), requiredApprovals(run.approval))
  return toApproval(required > 0 ? required : Number(weakensGates(asked, run)))
}

/** Runs would need fewer approvals than before, or need them later. */
export function weakensApproval(before: Asking, after: Asking): boolean {
  return requiredApprovals(after.approval) < requiredApprovals(before.approval) || weakensGates(before, after)
}

/** The same number of approvals could release more devices than before. */
function weakensGates({ rollout: before = {} }: Asking, { rollout: after = {} }: Asking): boolean {
  if (!asksAtGates(before)) return false
  const gates = before.waves?.slice(0, -1) ?? []
  return (
    after.next?.action !== 'APPROVAL' ||
    opensMoreEasily(before.next, after.next) ||
    !gates.every((wave, at) => isNoLarger(after.waves?.[at], wave))
  )
}

/** Must hold for any number of devices, so a count and a percentage cannot be compared. */
function isNoLarger(wave: Wave | undefined, than: Wave): boolean {
  if (wave === undefined || wave.where !== than.where) return false
  const isSameKind = typeof wave.size === typeof than.size
  return isSameKind && Number.parseFloat(String(wave.size)) <= Number.parseFloat(String(than.size))
}
