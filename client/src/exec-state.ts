// Groups of execution states that callers need to distinguish.

import type { ExecState } from './event.ts'

/** The terminal states other than SUCCEEDED. */
export const unsuccessfulEnds = ['FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED'] as const
type UnsuccessfulEnd = (typeof unsuccessfulEnds)[number]

export function isUnsuccessfulEnd(state: ExecState): state is UnsuccessfulEnd {
  return (unsuccessfulEnds as readonly ExecState[]).includes(state)
}

export function isEnd(state: ExecState): boolean {
  return state === 'SUCCEEDED' || isUnsuccessfulEnd(state)
}
