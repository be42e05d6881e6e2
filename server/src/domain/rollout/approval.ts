// Four eyes: what was decided about a run, by whom, and whose hand is in it. Pure, and free of the rest of a rollout:
// judge-rollout.ts says how a run goes on that was approved, decide-approval.ts who may decide.

import type { Approval, Decision, Rollout } from '@jobcast/contract'
import { requiredApprovals, toApproval } from '@jobcast/contract/words'
import type { WallInstant } from '../common/instants.ts'
import { opensMoreEasily } from './gate.ts'

export type StoredDecision = {
  principal: string
  /** Of the principal: see domain/access/lineage.ts. */
  lineage: string
  at: WallInstant
  decision: Decision
  comment: string | null
  /** About what it asks for now; false: the run has changed since, or has gone on. */
  counts: boolean
  /** Of what it was given to; older ones have none. */
  digest?: string
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

/** Those that count for what it asks for now. `now`: the digest of that, of a run that waits for approval. */
export function countedDecisions(status: Approved, now: string | undefined): StoredDecision[] {
  return decisionsOf(status).filter(({ counts, digest = now }) => counts && digest === now)
}

/** One decides once about what it asks for now. */
export function hasDecided(status: Approved, now: string | undefined, lineage: string): boolean {
  return countedDecisions(status, now).some((each) => each.lineage === lineage)
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
type Wave = NonNullable<Rollout['waves']>[number]

/** What a run needs: as many approvals as either asks for, and one if its gates do not ask as those of the other would. */
export function approvalUnder(asked: Asking, run: Asking): Approval {
  const required = Math.max(requiredApprovals(asked.approval), requiredApprovals(run.approval))
  return toApproval(required > 0 ? required : Number(weakensGates(asked, run)))
}

/** Runs would need fewer approvals than before, or need them later. */
export function weakensApproval(before: Asking, after: Asking): boolean {
  return requiredApprovals(after.approval) < requiredApprovals(before.approval) || weakensGates(before, after)
}

/** With as many approvals runs could be released to more devices than before. */
function weakensGates({ rollout: before = {} }: Asking, { rollout: after = {} }: Asking): boolean {
  if (!asksAtGates(before)) return false
  const gates = before.waves?.slice(0, -1) ?? []
  return (
    after.next?.action !== 'APPROVAL' ||
    opensMoreEasily(before.next, after.next) ||
    !gates.every((wave, at) => isNoLarger(after.waves?.[at], wave))
  )
}

/** For any number of devices: a number and a share cannot be compared. */
function isNoLarger(wave: Wave | undefined, than: Wave): boolean {
  if (wave === undefined || wave.where !== than.where) return false
  const isSameKind = typeof wave.size === typeof than.size
  return isSameKind && Number.parseFloat(String(wave.size)) <= Number.parseFloat(String(than.size))
}
