// Statistics of executions over time: success rate, durations, and figures by job.

import './stats.css'
import type { Stats } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { PageHeader } from '../parts/page-header.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { formatTime, now, parseTime } from '../parts/time.ts'
import { type FilterRules, filterOf, isOneOf, WrongFilters } from '../parts/wrong-filters.tsx'
import type { ScreenProps } from '../route.ts'
import { setSearch } from '../router.ts'
import { JobFilter } from './executions/job-filter.tsx'
import { JobTable } from './stats/job-table.tsx'
import { StatsCharts } from './stats/stats-charts.tsx'

const hourMs = 60 * 60_000
const ranges = [
  { name: '1h', label: 'Last hour', ms: hourMs },
  { name: '', label: 'Last 24 hours', ms: 24 * hourMs },
  { name: '7d', label: 'Last 7 days', ms: 7 * 24 * hourMs },
  { name: '30d', label: 'Last 30 days', ms: 30 * 24 * hourMs },
]
const rules: FilterRules = { range: isOneOf(['1h', '7d', '30d']), jobName: isPossibleName }

/** The end of the range advances once a minute. */
const stepMs = 60_000

export default function StatsScreen({ route }: ScreenProps) {
  const range = ranges.find(({ name }) => name === (filterOf('range', rules) ?? ''))
  const jobName = filterOf('jobName', rules)
  const until = Math.floor(now.value / stepMs) * stepMs + stepMs
  const { data, error, refetch } = useQuery(
    queries.stats({
      jobName,
      launchedAfter: new Date(until - (range?.ms ?? 24 * hourMs)).toISOString(),
      launchedBefore: new Date(until).toISOString(),
    }),
  )
  return (
    <>
      <PageHeader title={route.title} />
      <WrongFilters rules={rules} />
      <SavedViews />
      <Tabs
        label="Range"
        current={range?.name ?? ''}
        tabs={ranges.map(({ name, label }) => ({ name, label, href: hrefWith(name, jobName) }))}
      />
      <search class="filters" aria-label="Filters">
        <JobFilter value={jobName ?? ''} onChange={(name) => setSearch({ jobName: name })} />
      </search>
      {!data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.overall.total === 0 && (
        <EmptyState icon="stats" title="No executions were launched in this range" />
      )}
      {data && data.overall.total > 0 && (
        <>
          <StatsCharts stats={data} />
          <Caveats stats={data} />
          {jobName === undefined && <JobTable jobs={data.jobs} range={range?.name ?? ''} />}
        </>
      )}
    </>
  )
}

/** Notes on data that the figures do not include. */
function Caveats({ stats: { from, completeFrom, sampled, overall } }: { stats: Stats }) {
  const isCut = parseTime(completeFrom) > parseTime(from)
  const isSampled = sampled < overall.counts.SUCCEEDED
  if (!isCut && !isSampled) return null
  return (
    <p class="quiet">
      {isCut &&
        `Too many runs to count. Only executions launched after ${formatTime(parseTime(completeFrom))} are counted. `}
      {isSampled && `Durations are based on ${formatCount(sampled)} executions.`}
    </p>
  )
}

function hrefWith(range: string, jobName: string | undefined): string {
  const params = new URLSearchParams({ ...(range && { range }), ...(jobName && { jobName }) })
  return params.size > 0 ? `/stats?${params}` : '/stats'
}
