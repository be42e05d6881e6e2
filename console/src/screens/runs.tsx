// All runs, newest first, with their progress.

import './runs.css'
import type { Run } from '@jobcast/client'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { CountsWords } from '../parts/counts-words.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState, NoMatches } from '../parts/empty-state.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { SelectField } from '../parts/field.tsx'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { ListScreen } from '../parts/list-screen.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { RunStateWord } from '../parts/run-state-word.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { StateBar } from '../parts/state-bar.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { type FilterRules, filterOf, isOneOf, WrongFilters } from '../parts/wrong-filters.tsx'
import type { ScreenProps } from '../route.ts'
import { setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { JobFilter } from './executions/job-filter.tsx'

type RolloutState = NonNullable<Run['rollout']>['state']

const hrefOf = ({ runId }: Run) => `/runs/${runId}`

const columns: Column<Run>[] = [
  {
    name: 'run',
    title: 'Run',
    width: '64px',
    sortBy: ({ runId }) => runId,
    cell: (run) => <a href={hrefOf(run)}>{run.runId}</a>,
  },
  {
    name: 'job',
    title: 'Job',
    width: 'minmax(0, 2fr)',
    sortBy: ({ jobName }) => jobName,
    cell: ({ jobName }) => <a href={`/jobs/${encodeURIComponent(jobName)}`}>{jobName}</a>,
    under: ({ total, launchedAt }) => (
      <>
        {formatCount(total)} {total === 1 ? 'device' : 'devices'}, <RelativeTime at={launchedAt} />
      </>
    ),
  },
  {
    name: 'devices',
    title: 'Devices',
    width: '76px',
    align: 'end',
    isMinor: true,
    sortBy: ({ total }) => total,
    cell: ({ total }) => formatCount(total),
  },
  {
    name: 'states',
    title: 'States',
    width: 'minmax(124px, 2fr)',
    cell: (run) => (
      <div class="run-states">
        <StateBar counts={run.counts} total={run.total} />
        <RunStateWord run={run} />
      </div>
    ),
  },
  {
    name: 'words',
    title: 'Results',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: (run) => (
      <span class="quiet">
        <RunStateWord run={run} /> <CountsWords counts={run.counts} />
        {run.retryOf !== null && ` · retry of ${run.retryOf}`}
      </span>
    ),
  },
  {
    name: 'launched',
    title: 'Launched',
    width: '104px',
    align: 'end',
    isMinor: true,
    sortBy: ({ launchedAt }) => launchedAt,
    cell: ({ launchedAt }) => <RelativeTime at={launchedAt} />,
  },
]

const rolloutWords: Record<RolloutState, string> = {
  SCHEDULED: 'Scheduled',
  AWAITING_APPROVAL: 'Awaits approval',
  ROLLING_OUT: 'Rolling out',
  PAUSED: 'Paused',
  RELEASED: 'Released to all',
  DENIED: 'Denied',
  ABORTED: 'Stopped',
}
const rolloutStates = Object.keys(rolloutWords) as RolloutState[]
const rolloutOptions = [
  { value: '', label: 'Any' },
  ...rolloutStates.map((value) => ({ value, label: rolloutWords[value] })),
]

const rules: FilterRules = {
  jobName: isPossibleName,
  finished: isOneOf(['true', 'false']),
  rolloutState: isOneOf(rolloutStates),
}

const states = [
  { name: '', label: 'All' },
  { name: 'false', label: 'Unfinished' },
  { name: 'true', label: 'Finished' },
]

export default function RunsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const jobName = filterOf('jobName', rules) ?? ''
  const finished = filterOf('finished', rules) ?? ''
  const rolloutState = filterOf('rolloutState', rules) as RolloutState | undefined
  const runs = useList(
    lists.runs({
      jobName: jobName || undefined,
      finished: finished === '' ? undefined : finished === 'true',
      rolloutState,
    }),
  )
  return (
    <ListScreen
      route={route}
      actions={
        can('TRIGGER') && (
          <a class="button primary" href="/trigger">
            Trigger a job
          </a>
        )
      }
      filters={
        <div class="runs-filters">
          <Tabs
            label="State of the runs"
            current={finished}
            tabs={states.map(({ name, label }) => ({
              name,
              label,
              href: hrefWith({ jobName, finished: name, rolloutState }),
            }))}
          />
          <SavedViews />
          <search class="filters" aria-label="Filters">
            <JobFilter value={jobName} onChange={(name) => setSearch({ jobName: name })} />
            <SelectField
              label="Rollout"
              value={rolloutState ?? ''}
              options={rolloutOptions}
              onChange={(value) => setSearch({ rolloutState: value })}
            />
          </search>
        </div>
      }
      notice={<WrongFilters rules={rules} />}
      list={runs}
      columns={columns}
      hrefOf={hrefOf}
      empty={
        jobName !== '' || finished !== '' || rolloutState ? (
          <NoMatches what="runs" href="/runs" />
        ) : (
          <NoRuns />
        )
      }
    />
  )
}

function NoRuns() {
  const { can } = useScopes()
  return (
    <EmptyState icon="runs" title="No runs yet">
      {can('TRIGGER') && (
        <p>
          <a href="/trigger">Trigger a job</a>, and its run appears here.
        </p>
      )}
    </EmptyState>
  )
}

function hrefWith(filters: Record<string, string | undefined>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value) params.set(name, value)
  return params.size > 0 ? `/runs?${params}` : '/runs'
}
