// The time series of a run, from the counts of the server for each step.

import type { ExecState, RunTimeline } from '@jobcast/client'
import { failedStates } from '../../parts/exec-state.ts'
import { parseTime } from '../../parts/parse-time.ts'

type Progress = {
  times: number[]
  running: number[]
  succeeded: number[]
  failed: number[]
  canceled: number[]
}

export function progressOf({ from, until, stepMs, counts }: RunTimeline): Progress {
  const steps = Math.max(0, ...Object.values(counts).map(({ length }) => length))
  const [start, end] = [parseTime(from), parseTime(until)]
  // At the start, no execution is running and none has ended.
  const times = [
    start,
    ...Array.from({ length: steps }, (_, index) => Math.min(end, start + (index + 1) * stepMs)),
  ]
  const sum = (states: readonly ExecState[]) => [
    0,
    ...Array.from({ length: steps }, (_, index) =>
      states.reduce((total, state) => total + (counts[state]?.[index] ?? 0), 0),
    ),
  ]
  return {
    times,
    running: sum(['IN_PROGRESS', 'CANCELING']),
    succeeded: sum(['SUCCEEDED']),
    failed: sum(failedStates),
    canceled: sum(['CANCELED']),
  }
}
