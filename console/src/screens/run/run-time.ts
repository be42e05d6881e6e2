// How long a run has taken, or will: an estimate from what has ended so far.

import { isEnd, type Run } from '@jobcast/client'
import { stateOrder } from '../../parts/exec-state.ts'

/** Of fewer the next ones say little. */
const enoughEnds = 3
const enoughShare = 0.05

/** Milliseconds until the rest has ended at the rate so far; undefined while that is a guess. */
export function remainingOf(
  { total, counts }: Pick<Run, 'total' | 'counts'>,
  elapsedMs: number,
): number | undefined {
  const ended = stateOrder.reduce((sum, state) => (isEnd(state) ? sum + counts[state] : sum), 0)
  if (ended === total || ended < enoughEnds || ended < total * enoughShare) return undefined
  return (elapsedMs * (total - ended)) / ended
}
