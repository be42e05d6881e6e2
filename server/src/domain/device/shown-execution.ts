// Selects the execution that is shown for a device that has one color or one state. The map of the console does the same.

import { isTerminal, unsuccessfulEnds } from '../execution/execution.ts'
import type { StoredFleetDevice } from './ports/fleet.ts'

type Executions = Pick<StoredFleetDevice, 'running' | 'lastExecution' | 'lastEnded'>

/** A running execution takes precedence over later ones; waiting or held executions do not hide a failure. */
export function shownExecution({ running, lastExecution, lastEnded }: Executions): Executions['running'] {
  if (running !== null || lastExecution === null || isTerminal(lastExecution.execState)) {
    return running ?? lastExecution
  }
  return lastEnded !== null && isFailure(lastEnded.execState) ? lastEnded : lastExecution
}

function isFailure(state: (typeof unsuccessfulEnds)[number] | string): boolean {
  return state !== 'CANCELED' && unsuccessfulEnds.some((each) => each === state)
}
