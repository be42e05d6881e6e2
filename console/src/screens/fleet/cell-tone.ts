import type { FleetDevice } from '@jobcast/client'
import { stateStyles, type Tone } from '../../parts/exec-state.ts'

/** The colour of a cell; `none`: the device never had an execution. */
export type CellTone = Tone | 'none'

export function toneOf({ lastExecution }: FleetDevice): CellTone {
  return lastExecution ? stateStyles[lastExecution.execState].tone : 'none'
}
