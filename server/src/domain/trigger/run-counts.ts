// Changes to the counts of runs caused by moves of their executions.

import { type ExecState, execStates } from '@jobcast/contract/words'
import { isTerminal } from '../execution/execution.ts'
import type { Moved } from '../execution/ports/executions.ts'

/** `counts`: what to add to the count of each state. */
export type RunChange = {
  runId: number
  ownerNo: number
  counts: Record<ExecState, number>
  /** When the run ended, if it has no unfinished executions now; null if no move ended an execution. */
  endsAt: number | null
}

/** One change per run, ordered by run id. */
export function countMoves(moves: Iterable<{ moved: Moved; at: number }>): RunChange[] {
  const changes = new Map<number, RunChange>()
  for (const { moved, at } of moves) {
    const { runId, ownerNo, from, execState } = moved
    if (from === execState) continue
    const change = changes.get(runId) ?? { runId, ownerNo, counts: zeros(), endsAt: null }
    changes.set(runId, change)
    change.counts[from]--
    change.counts[execState]++
    if (isTerminal(execState)) change.endsAt = at
  }
  return [...changes.values()].sort((one, other) => one.runId - other.runId)
}

function zeros(): Record<ExecState, number> {
  return Object.fromEntries(execStates.map((state) => [state, 0])) as Record<ExecState, number>
}
