import type { FleetDevice } from '@jobcast/client'
import { stateStyles, type Tone } from '../../parts/exec-state.ts'

/** The colour of a cell; `none`: the device never had an execution. */
export type CellTone = Tone | 'none'

/** A running execution takes precedence over later ones; waiting executions do not hide a failure. */
export function shownExecution({ running, lastExecution, lastEnded }: FleetDevice): FleetDevice['running'] {
  const shown = running ?? lastExecution
  const hasFailed = lastEnded !== null && stateStyles[lastEnded.execState].tone === 'bad'
  return shown?.execState === 'PENDING' && hasFailed ? lastEnded : shown
}

export function toneOf(device: FleetDevice): CellTone {
  const shown = shownExecution(device)
  return shown ? stateStyles[shown.execState].tone : 'none'
}

/** The meaning of the colours, in the order of the legend. */
export const toneWords: { tone: CellTone; word: string }[] = [
  { tone: 'bad', word: 'failed' },
  { tone: 'running', word: 'running' },
  { tone: 'waiting', word: 'waiting' },
  { tone: 'good', word: 'succeeded' },
  { tone: 'off', word: 'canceled' },
  { tone: 'none', word: 'never ran' },
]
