// The states of an execution, ends first: they are what is counted.

import type { ExecState } from '@jobcast/client'
import { InvalidArgumentError } from 'commander'

const ends: Record<ExecState, boolean> = {
  SUCCEEDED: true,
  FAILED: true,
  TIMED_OUT: true,
  REJECTED: true,
  EXPIRED: true,
  CANCELED: true,
  CANCELING: false,
  IN_PROGRESS: false,
  PENDING: false,
}

export const execStates = Object.keys(ends) as ExecState[]

export function isEnd(state: ExecState): boolean {
  return ends[state]
}

/** For commander: also in small letters. */
export function stateOf(text: string): ExecState {
  const state = execStates.find((each) => each === text.toUpperCase())
  if (state === undefined) throw new InvalidArgumentError(`Allowed are ${execStates.join(', ')}.`)
  return state
}
