// The states of an execution, ends first: they are what is counted.

import { type ExecState, isEnd } from '@jobcast/client'
import { execStates as wireStates } from '@jobcast/contract'
import { InvalidArgumentError } from 'commander'

const [ends, others] = [wireStates.filter(isEnd), wireStates.filter((state) => !isEnd(state))]
export const execStates: readonly ExecState[] = [...ends, ...others.toReversed()]

/** For commander: also in small letters. */
export function stateOf(text: string): ExecState {
  const state = execStates.find((each) => each === text.toUpperCase())
  if (state === undefined) throw new InvalidArgumentError(`Allowed are ${execStates.join(', ')}.`)
  return state
}
