// The states of an execution, final states first, as counts are shown.

import { type ExecState, isEnd } from '@jobcast/client'
import { execStates as wireStates } from '@jobcast/contract/words'

const [ends, others] = [wireStates.filter(isEnd), wireStates.filter((state) => !isEnd(state))]
export const execStates: readonly ExecState[] = [...ends, ...others.toReversed()]
