import type { Run } from '@jobcast/client'
import { useMemo } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { formatCount } from '../../parts/exec-state.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { progressOf } from './progress.ts'

export function ProgressChart({ run: { runId, counts, total } }: { run: Run }) {
  const { data, error } = useQuery(queries.runTimeline(runId))
  const progress = useMemo(() => data && progressOf(data), [data])
  const hasCanceled = counts.CANCELED > 0
  const curves = useMemo(
    () =>
      progress && [
        { label: 'succeeded', tone: 'good' as const, values: progress.succeeded },
        { label: 'failed', tone: 'bad' as const, values: progress.failed },
        ...(hasCanceled ? [{ label: 'canceled', tone: 'off' as const, values: progress.canceled }] : []),
        { label: 'running', tone: 'running' as const, values: progress.running },
      ],
    [progress, hasCanceled],
  )
  if (!progress || !curves) {
    return (
      <p class="chart-loading quiet" role="status">
        {error ? 'The chart could not be loaded.' : 'Loading the chart.'}
      </p>
    )
  }
  const label = `Progress over time: ${curves
    .map(({ label, values }) => `${formatCount(values.at(-1) ?? 0)} ${label}`)
    .join(', ')}`
  const isSample = data !== undefined && data.sampled < total
  return (
    <>
      <TimeChart label={label} times={progress.times} curves={curves} height={150} />
      {isSample && (
        <p class="quiet">Extrapolated from {formatCount(data.sampled)} executions, except for its end.</p>
      )}
    </>
  )
}
