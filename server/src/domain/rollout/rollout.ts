// A rollout: a run that is released step by step, in waves. Its executions have consecutive ids in the order of
// their release, so one number says how many are released; the others are held back. A run that waits for approval, or
// for its start time, is a rollout that has not begun. A run without one is offered at once.
//
// Read next: judge-rollout.ts, the one pure function that decides how a rollout continues; roll-out.ts, which carries
// that out; plan-rollout.ts and plan-waves.ts, which devices are in which wave; run-release.ts, what a call asks for;
// change-rollout.ts, what people decide; approval.ts, who has approved it; view-rollout.ts and explain-rollout.ts, what they see.

import type { Approval, EventTypeOf, Rollout } from '@jobcast/contract'
import type { SteadyInstant, WallInstant } from '../common/instants.ts'
import type { RolloutStatus } from './judge-rollout.ts'

/** The requested rollout, and the resulting sizes of its waves. */
export type RolloutPlan = {
  rollout: Rollout
  approval: Approval
  sizes: number[]
  /** From the job; these clocks start with the release. */
  expireAfterSeconds: number | null
  deadlineSeconds: number | null
}

/** The part of a status that is stored as one document. */
export type RolloutDetails = Omit<RolloutStatus, 'state' | 'released'>

export type StoredRollout = {
  runId: number
  ownerNo: number
  firstExecutionId: number
  total: number
  /** Incremented by each change. */
  version: number
  nextAt: SteadyInstant | null
  plan: RolloutPlan
  status: RolloutStatus
  /** Nothing is released before this time; null: the run has no start time. */
  startAt: WallInstant | null
}

export type RolloutEventType = Exclude<EventTypeOf<'run'>, 'run.created' | 'run.finished'>
export type RolloutEvent = { type: RolloutEventType; details: Record<string, unknown> }

const finalStates: readonly RolloutStatus['state'][] = ['RELEASED', 'DENIED', 'ABORTED']

/** The first execution that may not be offered; null: all may. Denied and aborted executions are held until canceled. */
export function heldFrom({
  firstExecutionId,
  total,
  status,
}: Pick<StoredRollout, 'firstExecutionId' | 'total' | 'status'>): number | null {
  const isAll = status.state === 'RELEASED' || status.released >= total
  return isAll ? null : firstExecutionId + status.released
}

/** Whether it may still change: automatically, by a caller, or because the rest of it must be canceled. */
export function isOpenRollout({ state }: Pick<RolloutStatus, 'state'>): boolean {
  return state !== 'RELEASED'
}

/** Callers can no longer change it. */
export function isFinal({ state }: Pick<RolloutStatus, 'state'>): boolean {
  return finalStates.includes(state)
}

/** Positions in the run, `to` not included. */
export function waveParts(sizes: readonly number[]): { from: number; to: number }[] {
  let from = 0
  return sizes.map((size) => {
    const part = { from, to: from + size }
    from += size
    return part
  })
}

export function eventsAtBegin({ status }: Pick<StoredRollout, 'status'>): RolloutEvent[] {
  return status.state === 'AWAITING_APPROVAL'
    ? [{ type: 'run.awaiting_approval', details: { wave: 1, released: 0 } }]
    : []
}
