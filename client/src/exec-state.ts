// The states of an execution, as far as a caller has to tell them apart.

import type { ExecState } from './event.ts'

/** Ends that are no success. */
export const failedEnds = ['FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED'] as const
export type FailedEnd = (typeof failedEnds)[number]

export function isFailedEnd(state: ExecState): state is FailedEnd {
  return (failedEnds as readonly ExecState[]).includes(state)
}

export function isEnd(state: ExecState): boolean {
  return state === 'SUCCEEDED' || isFailedEnd(state)
}
