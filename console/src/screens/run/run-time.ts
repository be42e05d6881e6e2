// The duration of a run, or an estimate from the executions that have ended so far.

import { isEnd, type Run } from '@jobcast/client'
import { stateOrder } from '../../parts/exec-state.ts'

/** The minimum number of ended executions for an estimate. */
const enoughEnds = 3
const enoughShare = 0.05

/** Milliseconds until the remaining executions have ended at the current rate; undefined if an estimate is not possible. */
export function remainingOf(
  { total, counts }: Pick<Run, 'total' | 'counts'>,
  elapsedMs: number,
): number | undefined {
  const ended = stateOrder.reduce((sum, state) => (isEnd(state) ? sum + counts[state] : sum), 0)
  if (ended === total || ended < enoughEnds || ended < total * enoughShare) return undefined
  return (elapsedMs * (total - ended)) / ended
}
