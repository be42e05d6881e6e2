import type { FleetDevice } from '@jobcast/client'
import { looks, type Tone } from '../../parts/exec-state.ts'

/** What a cell of the map says; `none`: the device never had an execution. */
export type CellTone = Tone | 'none'

export function toneOf({ lastExecution }: FleetDevice): CellTone {
  return lastExecution ? looks[lastExecution.execState].tone : 'none'
}
