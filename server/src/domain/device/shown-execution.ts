// Which execution stands for a device where it has one color or one state. The map of the console does the same.

import { isTerminal, unsuccessfulEnds } from '../execution/execution.ts'
import type { StoredFleetDevice } from './ports/fleet.ts'

type Executions = Pick<StoredFleetDevice, 'running' | 'lastExecution' | 'lastEnded'>

/** What it works on comes before what was launched since; what waits or is held back does not hide a failure. */
export function shownExecution({ running, lastExecution, lastEnded }: Executions): Executions['running'] {
  if (running !== null || lastExecution === null || isTerminal(lastExecution.execState)) {
    return running ?? lastExecution
  }
  return lastEnded !== null && isFailure(lastEnded.execState) ? lastEnded : lastExecution
}

function isFailure(state: (typeof unsuccessfulEnds)[number] | string): boolean {
  return state !== 'CANCELED' && unsuccessfulEnds.some((each) => each === state)
}
