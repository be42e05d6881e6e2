import type { Stats } from '@jobcast/client'
import { useMemo } from 'preact/hooks'
import { failuresOf, formatCount } from '../../parts/exec-state.ts'
import { formatDuration, parseTime } from '../../parts/time.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { formatRate } from './format-rate.ts'

export function StatsCharts({ stats }: { stats: Stats }) {
  const { overall, buckets } = stats
  const times = useMemo(() => buckets.map(({ from }) => parseTime(from)), [buckets])
  const curves = useMemo(() => curvesOf(buckets), [buckets])
  const { successRate, durationMs } = overall
  return (
    <div class="stats-charts">
      <Chart
        title="Success rate"
        figure={successRate === null ? 'none has ended' : formatRate(successRate)}
        times={times}
        curves={curves.rate}
        format={(value) => formatRate(value / 100)}
        most={100}
      />
      <Chart
        title="Duration"
        figure={
          durationMs === null
            ? 'none has succeeded'
            : `p50 ${formatDuration(durationMs.p50)}, p95 ${formatDuration(durationMs.p95)}`
        }
        times={times}
        curves={curves.durations}
        format={formatDuration}
      />
      <Chart
        title="Executions"
        figure={formatCount(overall.total)}
        times={times}
        curves={curves.counts}
        format={formatCount}
      />
    </div>
  )
}

type ChartProps = {
  title: string
  figure: string
  times: number[]
  curves: Parameters<typeof TimeChart>[0]['curves']
  format: (value: number) => string
  most?: number
}

function Chart({ title, figure, ...chart }: ChartProps) {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="stats-figure">{figure}</span>
      </header>
      <TimeChart label={`${title} over time; in the whole range ${figure}`} height={170} {...chart} />
    </section>
  )
}

function curvesOf(buckets: Stats['buckets']) {
  return {
    rate: [
      {
        label: 'succeeded',
        tone: 'good' as const,
        values: buckets.map(({ successRate }) => (successRate === null ? null : 100 * successRate)),
      },
    ],
    durations: [
      {
        label: 'p95',
        tone: 'running' as const,
        values: buckets.map(({ durationMs }) => durationMs?.p95 ?? null),
      },
      {
        label: 'p50',
        tone: 'good' as const,
        values: buckets.map(({ durationMs }) => durationMs?.p50 ?? null),
      },
    ],
    counts: [
      { label: 'launched', tone: 'waiting' as const, values: buckets.map(({ total }) => total) },
      {
        label: 'succeeded',
        tone: 'good' as const,
        values: buckets.map(({ counts }) => counts.SUCCEEDED),
      },
      { label: 'failed', tone: 'bad' as const, values: buckets.map(({ counts }) => failuresOf(counts)) },
    ],
  }
}
