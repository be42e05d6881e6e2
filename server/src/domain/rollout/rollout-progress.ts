// What a rollout's status means for its run: what is held back, and where its waves lie.

import type { RolloutStatus } from './judge-rollout.ts'
import type { RolloutEvent, StoredRollout } from './ports/rollouts.ts'

const finalStates: readonly RolloutStatus['state'][] = ['RELEASED', 'DENIED', 'ABORTED']

/** The first execution that may not be offered; null: all may. What is denied or aborted is held until it is canceled. */
export function heldFrom({
  firstExecutionId,
  total,
  status,
}: Pick<StoredRollout, 'firstExecutionId' | 'total' | 'status'>): number | null {
  const isAll = status.state === 'RELEASED' || status.released >= total
  return isAll ? null : firstExecutionId + status.released
}

/** Whether it may still change: by itself, by somebody, or because the rest of it must be canceled. */
export function isOpenRollout({ state }: Pick<RolloutStatus, 'state'>): boolean {
  return state !== 'RELEASED'
}

/** Nobody can change it any more. */
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

export function eventsAtBegin({ status }: StoredRollout): RolloutEvent[] {
  return status.state === 'AWAITING_APPROVAL'
    ? [{ type: 'run.awaiting_approval', details: { wave: 1, released: 0 } }]
    : []
}
