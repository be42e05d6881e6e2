// Filters that lists of executions and of runs share: states and times.

import { type ExecutionQuery, parseInstant } from '@jobcast/contract'
import type { RunFilter } from '../../domain/trigger/ports/runs.ts'

const times = ['launchedAfter', 'launchedBefore', 'finishedAfter', 'finishedBefore'] as const
type Asked = Pick<ExecutionQuery, 'execState' | (typeof times)[number]>
type Filter = Pick<RunFilter, 'execStates' | (typeof times)[number]>

export function stateAndTimes(query: Asked): Filter {
  const filter: Filter = query.execState === undefined ? {} : { execStates: [...new Set(query.execState)] }
  for (const name of times) {
    const text = query[name]
    if (text !== undefined) filter[name] = parseInstant(text)
  }
  return filter
}
