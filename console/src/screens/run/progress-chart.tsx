import type { JobcastEvent, Run } from '@jobcast/client'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { queryClient } from '../../api/query-client.ts'
import { useQuery } from '../../api/use-query.ts'
import { useEvents } from '../../live/live-events.ts'
import { formatCount } from '../../parts/exec-state.ts'
import { parseTime } from '../../parts/time.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { useSeconds } from '../../parts/use-seconds.ts'
import { moveProgress, progressOf, progressQuery, type Spans } from './progress.ts'

export function ProgressChart({ run }: { run: Run }) {
  const { runId, launchedAt, finished } = run
  const [read, setRead] = useState(0)
  const { data, error } = useQuery(progressQuery(runId, setRead))
  const now = useSeconds(!finished)
  useEvents(
    useCallback(
      (events: JobcastEvent[]) => {
        queryClient.setQueryData<Spans>(
          progressQuery(runId).queryKey,
          (spans) => spans && moveProgress(spans, events),
        )
      },
      [runId],
    ),
  )
  // Of a run that goes on, many small changes are one drawing.
  const shown = finished ? data : undefined
  const progress = useMemo(
    () =>
      progressOf(queryClient.getQueryData(progressQuery(runId).queryKey) ?? none, parseTime(launchedAt), now),
    [runId, launchedAt, now, shown, data === undefined],
  )
  const curves = useMemo(
    () => [
      { label: 'succeeded', tone: 'good' as const, values: progress.succeeded },
      { label: 'unsuccessful', tone: 'bad' as const, values: progress.unsuccessful },
      { label: 'running', tone: 'running' as const, values: progress.running },
    ],
    [progress],
  )
  const label =
    `Progress over time: ${formatCount(progress.succeeded.at(-1) ?? 0)} succeeded, ` +
    `${formatCount(progress.unsuccessful.at(-1) ?? 0)} unsuccessful, ${formatCount(progress.running.at(-1) ?? 0)} running`
  if (data === undefined) {
    return (
      <p class="chart-loading quiet" role="status">
        {error
          ? 'The chart could not be loaded.'
          : `Loading the chart: ${formatCount(read)} of ${formatCount(run.total)}`}
      </p>
    )
  }
  return <TimeChart label={label} times={progress.times} curves={curves} height={150} />
}

const none: Spans = new Map()
