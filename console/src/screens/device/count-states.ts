import type { ExecState } from '@jobcast/client'
import { type Counts, stateOrder } from '../../parts/exec-state.ts'

export function countStates(executions: readonly { execState: ExecState }[]): Counts {
  const counts = Object.fromEntries(stateOrder.map((state) => [state, 0])) as Counts
  for (const { execState } of executions) counts[execState]++
  return counts
}
