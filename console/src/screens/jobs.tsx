// All jobs; with ?new the form for a new one.

import type { Job } from '@jobcast/client'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { writeDuration } from '../parts/duration.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import type { ScreenProps } from '../route.ts'
import { search } from '../router.ts'
import { useScopes } from '../scopes.ts'
import './jobs.css'

const hrefOf = ({ jobName }: Job) => `/jobs/${encodeURIComponent(jobName)}`

const columns: Column<Job>[] = [
  {
    name: 'job',
    title: 'Job',
    width: 'minmax(0, 3fr)',
    sortBy: ({ jobName }) => jobName,
    cell: (job) => <a href={hrefOf(job)}>{job.jobName}</a>,
  },
  {
    name: 'description',
    title: 'Description',
    width: 'minmax(0, 5fr)',
    isMinor: true,
    cell: ({ description }) => description,
  },
  {
    name: 'policy',
    title: 'Limits',
    width: 'minmax(0, 4fr)',
    isMinor: true,
    cell: (job) => <span class="quiet">{describeLimits(job)}</span>,
  },
  {
    name: 'updated',
    title: 'Updated',
    width: '110px',
    isMinor: true,
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
  },
  {
    name: 'by',
    title: 'Updated by',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ updatedBy, updatedByName }) => <Maker createdBy={updatedBy} createdByName={updatedByName} />,
  },
]

const triggerColumn: Column<Job> = {
  name: 'trigger',
  title: <span class="hidden">Trigger</span>,
  width: '76px',
  align: 'end',
  cell: ({ jobName }) => (
    <span class="row-buttons">
      <a class="button" href={triggerHref({ jobName })} aria-label={`Trigger ${jobName}`}>
        Trigger
      </a>
    </span>
  ),
}

const NewJob = lazyPart<object>(() => import('./jobs/new-job.tsx'))

export default function JobsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  if (search.value.has('new') && can('MANAGE')) return <NewJob />
  return <JobList route={route} />
}

function JobList({ route }: Pick<ScreenProps, 'route'>) {
  const { can } = useScopes()
  return (
    <ListScreen
      route={route}
      actions={
        can('MANAGE') && (
          <a class="button primary" href="/jobs?new">
            New job
          </a>
        )
      }
      list={useList(lists.jobs())}
      columns={can('TRIGGER') ? [...columns, triggerColumn] : columns}
      hrefOf={hrefOf}
      empty={<NoJobs />}
    />
  )
}

function NoJobs() {
  const { can } = useScopes()
  return (
    <EmptyState icon="jobs" title="No jobs yet">
      <p>
        A job describes what devices can be asked to do.{' '}
        {can('MANAGE') ? (
          <a href="/jobs?new">Create the first one</a>
        ) : (
          'A key with the MANAGE scope can create one.'
        )}
      </p>
    </EmptyState>
  )
}

function describeLimits({
  expireAfterSeconds,
  timeoutSeconds,
  deadlineSeconds,
  retry,
  priority,
}: Job): string {
  const limits = [
    expireAfterSeconds !== null && `expires after ${writeDuration(expireAfterSeconds)}`,
    timeoutSeconds !== null && `times out after ${writeDuration(timeoutSeconds)}`,
    deadlineSeconds !== null && `deadline ${writeDuration(deadlineSeconds)}`,
    retry !== null && `${retry.max} ${retry.max === 1 ? 'retry' : 'retries'}`,
    priority !== 5 && `priority ${priority}`,
  ]
  return limits.filter((limit) => limit !== false).join(', ') || 'none'
}
